import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Misbehaviour } from '../agent/misbehaviour.ts';
import { oneOf } from '../chaos/random-streams.ts';
import type { Random } from '../slack/ids.ts';
import { mutate } from './mutation.ts';

const MEBIBYTE = 1024 * 1024;
const PAGE = '<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>';
/** What no title should do in a thread. */
const SHOUTED = '<!channel> [x](https://a.example) *x* ‮ \u0000 <script>'.repeat(50);
const STATUSES = [301, 302, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 504, 529] as const;
const RETRY_AFTER = ['0', '-1', '1e9', 'soon', '', '3', '9'.repeat(400), 'Wed, 21 Oct 2099 07:28:00 GMT'];

type WrongAnswer = (body: object, random: Random) => Misbehaviour;

/** The answer in a coding that its header names, or that it does not have. */
function coded(body: object, random: Random): Misbehaviour {
  const text = Buffer.from(JSON.stringify(body));
  const [coding, encode] = oneOf(random, [
    ['gzip', () => gzipSync(text)],
    ['gzip', () => gzipSync(text).subarray(0, -9)],
    ['gzip', () => text],
    ['gzip', () => gzipSync(Buffer.alloc(64 * MEBIBYTE))],
    ['br', () => brotliCompressSync(text)],
    ['deflate', () => deflateSync(text)],
    ['compress', () => text],
    ['gzip, gzip', () => gzipSync(gzipSync(text))],
  ] as const);
  return { kind: 'body', body: encode(), headers: { 'content-encoding': coding } };
}

/** The answer with shouted titles, and with works and articles that nobody asked about. */
function shouted(body: object): Misbehaviour {
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (name === 'title') return Array.isArray(value) ? [SHOUTED] : SHOUTED;
    if (name === 'items' && Array.isArray(value))
      return [...value, { DOI: '10.5555/unasked', title: [SHOUTED] }];
    return value;
  });
  return { kind: 'body', body: text };
}

const WRONG_ANSWERS: readonly WrongAnswer[] = [
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (_, random) => ({
    kind: 'body',
    body: oneOf(random, [
      PAGE,
      '',
      'Resource not found.',
      '{"error":"API rate limit exceeded","api-key":"192.0.2.1"}',
    ]),
    status: oneOf(random, [200, ...STATUSES]),
    headers: { 'retry-after': oneOf(random, RETRY_AFTER), location: 'http://169.254.169.254/' },
  }),
  (body, random) => ({ kind: 'body', body, status: oneOf(random, STATUSES) }),
  (_, random) => ({
    kind: 'body',
    body: oneOf(random, ['null', '[]', '{}', '5', '"found"', '['.repeat(500_000)]),
  }),
  (body, random) => ({ kind: 'body', body: JSON.stringify(body).slice(0, -oneOf(random, [1, 5, 100])) }),
  (body) => ({ kind: 'body', body: { ...body, more: 'x'.repeat(15 * MEBIBYTE) } }),
  (body) => ({ kind: 'body', body: Buffer.from(JSON.stringify(body), 'utf16le') }),
  coded,
  coded,
  shouted,
  (body, random) => ({
    kind: 'body',
    body,
    headers: {
      'x-rate-limit-limit': oneOf(random, ['0', '-5', '1e-9', '1e9', 'many', '']),
      'x-rate-limit-interval': oneOf(random, ['1s', '0s', '100s', 'soon', '']),
    },
  }),
  (body) => ({ kind: 'body', body, headers: { 'x-much': 'y'.repeat(40_000) } }),
  (_, random) => ({ kind: 'stalled', bytes: oneOf(random, [0, 1_000]) }),
  () => ({ kind: 'endless' }),
  () => ({ kind: 'dribbled', bytes: 2_000 }),
  (_, random) => ({ kind: 'wrong-length', difference: oneOf(random, [-20, 20, 1e9]) }),
];

/** Spoils about so many of the registries' answers (0 to 1). */
export function hostileRegistry(random: Random, chance: number, onSpoilt: () => void) {
  return (_call: string, body: object): Misbehaviour | undefined => {
    if (random() >= chance) return undefined;
    onSpoilt();
    return oneOf(random, WRONG_ANSWERS)(body, random);
  };
}
