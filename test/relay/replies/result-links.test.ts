import { expect, test } from 'vitest';
import { ResultLinks } from '../../../src/relay/replies/result-links.ts';

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
