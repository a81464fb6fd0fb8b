import { describe, expect, test } from 'vitest';
import { openHttpReceiver } from '../support/http-receiver.ts';

const bots = { T1: { userId: 'UBOT', botId: 'BBOT' } };
const receiver = await openHttpReceiver(bots);
let next = 0;

/** An event as Slack sends it; a new message each time unless `ts` says which. */
function event(fields: Record<string, unknown>, eventId = `Ev${next}`): string {
  next += 1;
  const ts = `17${String(10_000_000 + next).padStart(8, '0')}.000100`;
  return JSON.stringify({
    type: 'event_callback',
    team_id: 'T1',
    event_id: eventId,
    authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
    event: {
      type: 'message',
      channel: 'C1',
      channel_type: 'channel',
      user: 'U1',
      ts,
      event_ts: ts,
      ...fields,
    },
  });
}

const count = async () =>
  Number(
    (
      await receiver.store.db
        .selectFrom('messages')
        .select(({ fn }) => fn.countAll<string>().as('all'))
        .executeTakeFirst()
    )?.all ?? 0,
  );

describe('events by HTTP', () => {
  test('a request with a bad signature is rejected and nothing is recorded', async () => {
    const before = await count();
    const response = await receiver.send(event({ text: '<@UBOT> hi' }), { secret: 'a-wrong-secret' });
    expect(response.status).toBe(401);
    expect(await count()).toBe(before);
  });

  test('a replayed old request is rejected', async () => {
    const before = await count();
    const at = Math.floor(Date.now() / 1_000) - 600;
    expect((await receiver.send(event({ text: '<@UBOT> hi' }), { at })).status).toBe(401);
    expect(await count()).toBe(before);
  });

  test("Slack's challenge is answered", async () => {
    const response = await receiver.send(JSON.stringify({ type: 'url_verification', challenge: 'c0ffee' }));
    expect(await response.text()).toContain('c0ffee');
  });

  test('an unknown event and a malformed one are acknowledged', async () => {
    const before = await count();
    expect((await receiver.send(event({ type: 'planet_aligned' }))).status).toBe(200);
    expect((await receiver.send(event({ ts: 'yesterday', text: '<@UBOT> hi' }))).status).toBe(200);
    expect((await receiver.send('{"type": "event_callback", ')).status).toBeGreaterThanOrEqual(400);
    expect(await count()).toBe(before);
  });

  test('an event that could not be recorded is not acknowledged, and its next delivery is recorded', async () => {
    const before = await count();
    const body = event({ text: '<@UBOT> once more' });
    receiver.breakStore(1);
    expect((await receiver.send(body)).status).toBeGreaterThanOrEqual(500);
    expect(await count()).toBe(before);
    const again = await receiver.send(body, { headers: { 'x-slack-retry-num': '1' } });
    expect(again.status).toBe(200);
    expect(await count()).toBe(before + 1);
  });

  test('both copies of a mention, in any order, together and repeated, are one message', async () => {
    for (let round = 0; round < 25; round += 1) {
      const before = await count();
      const ts = `18${String(10_000_000 + round)}.000200`;
      const message = event({ ts, text: '<@UBOT> the same' }, `EvM${round}`);
      const mention = event(
        { ts, type: 'app_mention', channel_type: undefined, text: '<@UBOT> the same' },
        `EvA${round}`,
      );
      const copies = round % 2 === 0 ? [message, mention] : [mention, message];
      const together = await Promise.all(copies.map((copy) => receiver.send(copy)));
      expect(together.map(({ status }) => status)).toEqual([200, 200]);
      await receiver.send(copies[0] ?? '', { headers: { 'x-slack-retry-num': '2' } });
      expect(await count()).toBe(before + 1);
    }
  });

  test('a workspace in which the bot is not installed starts nothing', async () => {
    const before = await count();
    const body = event({ text: '<@UBOT> hi' }).replaceAll('"T1"', '"T2"');
    expect((await receiver.send(body)).status).toBe(200);
    expect(await count()).toBe(before);
  });

  test('unknown paths are not found', async () => {
    expect((await receiver.send('{}', { path: '/admin' })).status).toBe(404);
  });
});
