import { describe, expect, test } from 'vitest';
import { openStartFormScene } from '../../support/start-form-scene.ts';

/** Slack does not tell who somebody is. */
const silent = { call: 'users.info', fault: { kind: 'status', status: 503 } } as const;

describe.concurrent('while Slack does not say who a person is', () => {
  test('their message waits and they are told, and it is sent once Slack answers', async ({
    onTestFinished,
  }) => {
    const starting = await openStartFormScene({}, onTestFinished);
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const mend = scene.slack.faults.add(silent);
    const root = starting.ask(person, channel, 'who am I?');
    const heard = await scene.until('they are told', () => starting.ephemeralTexts(person, channel)[0]);
    expect(heard).toContain('Your message is waiting');
    expect(scene.agent.tasks).toEqual([]);
    expect(scene.replies(channel, root)).toEqual([]);
    mend();
    await scene.finished(channel, root);
    expect(scene.sentToAgent('who am I?').texts).toEqual(['who am I?']);
    expect(starting.ephemeralTexts(person, channel)).toHaveLength(1);
  });

  test('they are told that their message waits before Slack has answered at all', async ({
    onTestFinished,
  }) => {
    const starting = await openStartFormScene({ limits: { lookupMs: 1_500 } }, onTestFinished);
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const { promise: until, resolve: mend } = Promise.withResolvers<void>();
    scene.slack.faults.add({ call: 'users.info', fault: { kind: 'hold', until } });
    const root = starting.ask(person, channel, 'am I heard?');
    await scene.until('they are told', () => starting.ephemeralTexts(person, channel)[0]);
    const asked = scene.slack.calls.filter(({ method }) => method === 'users.info');
    expect(asked).toMatchObject([{ status: 0 }]);
    mend();
    await scene.finished(channel, root);
    expect(starting.ephemeralTexts(person, channel)).toHaveLength(1);
  });

  test('messages behind one that is then refused are treated as if it had never been there', async ({
    onTestFinished,
  }) => {
    const starting = await openStartFormScene({}, onTestFinished);
    const { scene } = starting;
    const { store } = scene.sandbox.bot;
    const guest = scene.slack.createPerson({ name: 'visitor', kind: 'guest' });
    const channel = scene.channel();
    const mend = scene.slack.faults.add(silent);
    const root = starting.ask(guest, channel, 'a guest asks first');
    const talk = scene.reply(channel, root, 'no word for the bot');
    const asked = scene.reply(channel, root, `${scene.mention} a member asks next`);
    const key = (ts: string) => ({ workspace: scene.slack.team.id, channel: channel.id, ts });
    for (const { ts } of [talk, asked])
      await scene.until('it waits', async () => (await store.messages.get(key(ts)))?.state === 'waiting');
    mend();
    await scene.finished(channel, asked);
    expect(await store.messages.get(key(root.ts))).toMatchObject({ state: 'refused', content: null });
    expect(await store.messages.get(key(talk.ts))).toBeUndefined();
    expect(await store.threads.get({ ...key(root.ts), thread_ts: root.ts })).toMatchObject({
      started_by: scene.ada.id,
      adopted_ts: asked.ts,
      is_dormant: false,
    });
    expect(scene.agent.tasks).toHaveLength(1);
  });

  test('the form is refused and keeps what they typed', async ({ onTestFinished }) => {
    const limits = { windowLookupMs: 1_000 };
    const starting = await openStartFormScene({ limits }, onTestFinished);
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const mend = scene.slack.faults.add(silent);
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const values = { ...starting.filled(person), question: 'typed with care' };
    const sent = await scene.slack.submitView(person, values);
    expect(JSON.stringify(sent.body)).toContain("can't tell me right now who you are");
    mend();
    await starting.send(person, values);
    await starting.post(channel, 'typed with care');
  });
});
