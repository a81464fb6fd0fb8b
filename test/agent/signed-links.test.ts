import { expect, test } from 'vitest';
import { signedUntil } from '../../src/agent/signed-links.ts';

test.each([
  [
    'https://b.example/k?X-Amz-Date=20261123T130500Z&X-Amz-Expires=3600&X-Amz-Signature=0',
    '2026-11-23T14:05:00.000Z',
  ],
  ['https://b.example/k?X-Goog-Expires=60&X-Goog-Date=20261123T235930Z', '2026-11-24T00:00:30.000Z'],
  ['https://b.example/k?X-Amz-Date=soon&X-Amz-Expires=3600', undefined],
  ['https://b.example/k?X-Amz-Date=20261123T130500Z&X-Amz-Expires=long', undefined],
  ['https://b.example/k?X-Amz-Expires=3600', undefined],
  ['https://b.example/k?Expires=1796047500', undefined],
  ['no link', undefined],
])('the signature of %s says until when it works, or nothing', (link, until) => {
  expect(signedUntil(link)?.toISOString()).toBe(until);
});
