import { expect, test, vi } from 'vitest';
import {
  linkFinder,
  type ResultLinkDestination,
  ResultLinks,
} from '../../../src/relay/replies/lasting-links.ts';
import { clientOf, localServer } from '../../support/local-server.ts';

const day = 24 * 60 * 60_000;
const linked = { workspace: 'T1', turnId: '00000000-0000-4000-8000-000000000001', resultId: 'res_1' };
let clock = Date.UTC(2026, 0, 1);
const made = (secretKey = 'a'.repeat(32)) =>
  new ResultLinks({ secretKeys: [secretKey], publicUrl: 'https://bot.example/', now: () => clock });
const tokenOf = (link: string) => link.slice('https://bot.example/results/'.length);

test('a link names its result, and only the owner of the key can make one', () => {
  const token = tokenOf(made().create(linked));
  expect(made().verify(token)).toEqual(linked);
  expect(made('b'.repeat(32)).verify(token)).toBeUndefined();
});

test('a link expires after seven days', () => {
  const token = tokenOf(made().create(linked));
  clock += 7 * day - 2_000;
  expect(made().verify(token)).toEqual(linked);
  clock += 2_000;
  expect(made().verify(token)).toBe('expired');
});

test.each([
  ['nothing', () => ''],
  ['no signature', (token: string) => token.split('.')[0] ?? ''],
  ['another text', (token: string) => `A${token.slice(1)}`],
  ['another signature', (token: string) => `${token.slice(0, -2)}zz`],
  ['more behind it', (token: string) => `${token}.x`],
])('a link with %s is not ours', (_, change) => {
  expect(made().verify(change(tokenOf(made().create(linked))))).toBeUndefined();
});

const FOUND: ResultLinkDestination = { kind: 'found', url: 'https://files.example/a', isOwnService: false };
const UNAVAILABLE: ResultLinkDestination = { kind: 'unavailable' };

/** A resolver whose lookups last until `end` is called, or until they are stopped. Tokens are `workspace/result`. */
function resolver(timeoutMs?: number) {
  const running = new Set<() => void>();
  const resolve = vi.fn<(target: unknown, signal: AbortSignal) => Promise<ResultLinkDestination>>(
    (_, signal) =>
      new Promise((settle) => {
        running.add(() => settle(FOUND));
        signal.addEventListener('abort', () => settle(UNAVAILABLE));
      }),
  );
  const verify = (token: string) => {
    const [workspace = '', resultId = ''] = token.split('/');
    return { workspace, turnId: '00000000-0000-4000-8000-000000000001', resultId };
  };
  const find = linkFinder({ verify }, resolve, timeoutMs);
  const end = () => {
    for (const settle of running) settle();
  };
  return { find, resolve, end };
}

test('many requests for one link ask the service once, and so do those soon after', async () => {
  const { find, resolve, end } = resolver();
  const all = Array.from({ length: 100 }, () => find('T1/a'));
  end();
  expect(new Set(await Promise.all(all))).toEqual(new Set([FOUND]));
  expect(await find('T1/a')).toEqual(FOUND);
  expect(resolve).toHaveBeenCalledTimes(1);
});

test('one workspace has a few lookups at once, and leaves room for another; all have a limit together', async () => {
  const { find, resolve, end } = resolver();
  const own = Array.from({ length: 20 }, (_, at) => find(`T1/${at}`));
  expect(await Promise.all(own.slice(4))).toEqual(own.slice(4).map(() => UNAVAILABLE));
  const others = Array.from({ length: 50 }, (_, at) => find(`T${at + 2}/a`));
  expect(resolve).toHaveBeenCalledTimes(32);
  end();
  expect(await own[0]).toEqual(FOUND);
  expect(await others[0]).toEqual(FOUND);
  expect(await others[49]).toEqual(UNAVAILABLE);
});

test('waiting requests are limited, also those of one workspace, so that those of others and of Slack get a connection', async () => {
  const { find, end } = resolver();
  const ask = (link: string) => Array.from({ length: 300 }, () => find(link));
  const [own, others] = [ask('T1/a'), ask('T2/a')];
  end();
  const found = async (all: typeof own) => (await Promise.all(all)).filter(({ kind }) => kind === 'found');
  expect(await found(own)).toHaveLength(100);
  expect(await found(others)).toHaveLength(100);
});

test('a service that does not answer is given up after a while', async () => {
  const { find } = resolver(20);
  expect(await find('T1/a')).toEqual(UNAVAILABLE);
});

test.each([
  ['https://files.example/a', true],
  ['http://files.example/a', false],
  ['https://10.0.0.1/a', false],
  ['https://[fd00::1]/a', false],
  ['javascript:alert(1)', false],
  ['http://127.0.0.1:8/a', true],
  ['https://files.example@two.example/a', false],
  ['', false],
])('a result at %j is linked: %j', (url, isLinked) => {
  expect(clientOf('http://127.0.0.1:9').links.allowed(url)).toBe(isLinked ? url : null);
});

test('a result whose link may not be passed on has none', async () => {
  const links = ['https://files.example/a', 'https://10.0.0.1/b', 'http://files.example/c'];
  const data = links.map((link, at) => ({
    ...{ result_id: `r${at}`, name: `${at}.txt`, size_bytes: 1, mime_type: 'text/plain' },
    ...{ created_at: '2026-11-23T00:00:00Z', download_url: link },
  }));
  await using server = await localServer((_, response) => response.end(JSON.stringify({ data })));
  const { results } = await clientOf(server.origin).allResults('t');
  expect(results.map(({ downloadUrl }) => downloadUrl)).toEqual([links[0], null, null]);
});
