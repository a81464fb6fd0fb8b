import { describe, expect, test } from 'vitest';
import { mostBodyBytes } from '../../src/listen/http-guard.ts';
import { openReceiver } from './receiver.ts';

const receiver = await openReceiver({ T1: { userId: 'UBOT', botId: 'BBOT' } });
const now = () => Math.floor(Date.now() / 1_000);
const challenge = JSON.stringify({ type: 'url_verification', challenge: 'c0ffee' });

describe("Slack's requests", () => {
  test('from the future are refused although they are signed; a clock that is a little ahead is not', async () => {
    expect((await receiver.send(challenge, { at: now() + 3_600 })).status).toBe(401);
    expect((await receiver.send(challenge, { at: now() + 90 })).status).toBe(401);
    expect((await receiver.send(challenge, { at: now() + 20 })).status).toBe(200);
  });

  test.each(['soon', 'NaN', '1e99', 'Infinity'])('of the time %s are refused', async (stamp) => {
    const headers = { 'x-slack-request-timestamp': stamp };
    expect((await receiver.send(challenge, { headers })).status).toBe(401);
  });

  test('without a time or a signature are refused', async () => {
    expect((await receiver.send(challenge, { headers: { 'x-slack-signature': '' } })).status).toBe(401);
    expect((await receiver.send(challenge, { headers: { 'x-slack-request-timestamp': '' } })).status).toBe(
      401,
    );
  });

  test('that are too large are refused before they are read, and the next one is taken', async () => {
    const answer = await receiver.send(`{"type":"${'x'.repeat(mostBodyBytes)}"}`);
    expect(answer.status).toBe(413);
    expect((await receiver.send(challenge)).status).toBe(200);
  });

  test('are answered with the headers that protect', async () => {
    const { headers } = await receiver.send(challenge);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});
