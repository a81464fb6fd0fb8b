import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/listeners/http-request-validation.ts';
import { openHttpReceiver } from '../support/http-receiver.ts';

const receiver = await openHttpReceiver({ T1: { userId: 'UBOT', botId: 'BBOT' } });
const now = () => Math.floor(Date.now() / 1_000);
const challenge = JSON.stringify({ type: 'url_verification', challenge: 'c0ffee' });
const forged = `v0=${'0'.repeat(64)}`;

const DECLARED_BYTES = 2 * 1024 * 1024;

/** Begins a request of 2 MiB of which the last byte never comes; the answer is what is answered, once that is anything. */
function begin(signature: string, stamp: number | string, bytes = DECLARED_BYTES - 1): Promise<string> {
  const socket: Socket = connect(receiver.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const head = [
    'POST /slack/events HTTP/1.1',
    'Host: a',
    'Content-Type: application/json',
    `Content-Length: ${DECLARED_BYTES}`,
    `X-Slack-Request-Timestamp: ${stamp}`,
    `X-Slack-Signature: ${signature}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes, '{'));
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data)));
    socket.once('error', () => resolve('broken off'));
  });
}

describe("Slack's requests", () => {
  test('from the future are rejected even if signed, but a clock may be a little ahead', async () => {
    expect((await receiver.send(challenge, { at: now() + 3_600 })).status).toBe(401);
    expect((await receiver.send(challenge, { at: now() + 90 })).status).toBe(401);
    expect((await receiver.send(challenge, { at: now() + 20 })).status).toBe(200);
  });

  test.each(['soon', 'NaN', '1e99', 'Infinity'])('with the timestamp %s are rejected', async (stamp) => {
    const headers = { 'x-slack-request-timestamp': stamp };
    expect((await receiver.send(challenge, { headers })).status).toBe(401);
  });

  test('without a timestamp or a signature are rejected', async () => {
    expect((await receiver.send(challenge, { headers: { 'x-slack-signature': '' } })).status).toBe(401);
    expect((await receiver.send(challenge, { headers: { 'x-slack-request-timestamp': '' } })).status).toBe(
      401,
    );
  });

  test('that are too large are rejected before they are read, and the next one is accepted', async () => {
    const answer = await receiver.send(`{"type":"${'x'.repeat(MAX_BODY_BYTES)}"}`);
    expect(answer.status).toBe(413);
    expect((await receiver.send(challenge)).status).toBe(200);
  });

  test.each([
    ['without a signature', '', now()],
    ['with half a signature', forged.slice(0, 40), now()],
    ['without a time', forged, ''],
    ['of ten minutes ago', forged, now() - 600],
  ])('%s are rejected before they are read', async (_, signature, stamp) => {
    expect(await begin(signature, stamp, 0)).toContain(' 401 ');
  });

  test('that never end hold limited memory: the oldest is aborted, and Slack still gets through', async () => {
    const first = begin(forged, now());
    const others = Array.from({ length: 19 }, () => begin(forged, now()));
    expect(await first).toMatch(/ 503 .*retry-after: \d/is);
    const answer = await receiver.send(challenge);
    expect(answer.status).toBe(200);
    expect(await Promise.race([...others.slice(-10), Promise.resolve('none of them')])).toBe('none of them');
  });

  test('are answered with security headers', async () => {
    const { headers } = await receiver.send(challenge);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('a body on which Bolt fails', () => {
  test.each(['null', '[]', '0', '"text"', '', '{"type":', 'payload=null', 'payload='])(
    '%j is refused',
    async (body) => {
      const form = body.startsWith('payload');
      expect((await receiver.send(body, { form })).status).toBe(400);
      expect((await receiver.send(challenge)).status).toBe(200);
    },
  );

  test.each<[string, unknown]>([
    ['an event of no type', { type: 'event_callback', team_id: 'T1', event: { type: ['message'] } }],
    [
      'a press without actions',
      { type: 'block_actions', team: { id: 'T1' }, user: { id: 'U1' }, actions: null },
    ],
    [
      'a channel that is none',
      { type: 'event_callback', team_id: 'T1', event: { type: 'message', channel: -1 } },
    ],
  ])('%s is acknowledged, because another delivery would fail too', async (_, body) => {
    expect((await receiver.send(JSON.stringify(body))).status).toBeLessThan(500);
  });

  test('a message with characters that the database rejects is saved without them', async () => {
    const before = receiver.admissions.length;
    const event = {
      type: 'message',
      channel: 'C1',
      channel_type: 'channel',
      user: 'U1',
      ts: '1700000001.000100',
      text: '<@UBOT> nul \u0000 and half \ud800',
    };
    const body = { type: 'event_callback', team_id: 'T1', authorizations: [{ team_id: 'T1' }], event };
    expect((await receiver.send(JSON.stringify(body))).status).toBe(200);
    expect(receiver.admissions.slice(before)).toMatchObject([{ kind: 'admitted' }]);
    const message = await receiver.store.messages.get({ workspace: 'T1', channel: 'C1', ts: event.ts });
    expect(message?.content?.text).toBe('<@UBOT> nul  and half \ufffd');
  });
});
