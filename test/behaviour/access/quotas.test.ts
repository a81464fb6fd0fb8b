import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { openStartFormScene, StartFormScene } from '../../support/start-form-scene.ts';

/** Waits until the person was told something; the answer is the last of it. */
async function told(starting: StartFormScene, person: Person, channel: Channel, times = 1): Promise<string> {
  return starting.scene.until(`${person.name} is told`, () => {
    const heard = starting.ephemeralTexts(person, channel);
    return heard.length >= times && heard.at(-1);
  });
}

async function runs({ scene }: StartFormScene, title: string): Promise<void> {
  await scene.until(`${title} runs`, () =>
    scene.agent.tasks.some((task) => task.title === title && task.status === 'running'),
  );
}

describe.concurrent('a quota', () => {
  test('tells a person who has reached it when to ask again, and leaves other people alone', async ({
    onTestFinished,
  }) => {
    const starting = await openStartFormScene({ settings: { TURNS_PER_HOUR_PERSON: '2' } }, onTestFinished);
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    for (const text of ['one', 'two']) await scene.finished(channel, starting.ask(person, channel, text));
    const third = starting.ask(person, channel, 'the third is too many');
    expect(await told(starting, person, channel)).toMatch(
      /2 messages in the past hour.*didn't send.*again in (1 h|60 min|59 min)/,
    );
    expect(scene.sentToAgent('the third is too many').texts).toEqual([]);
    expect(scene.replies(channel, third)).toEqual([]);
    const details = await scene.sandbox.bot.store.db
      .selectFrom('audit_events')
      .select('details')
      .where('kind', '=', 'refusal')
      .execute();
    expect(details).toMatchObject([{ details: { why: 'limit', limit: 'hourPerson', most: 2 } }]);
    await scene.finished(channel, scene.ask(channel, 'Ada may'));
  });

  test('admits only as many of a burst of messages as may run at once', async ({ onTestFinished }) => {
    const starting = await openStartFormScene({ limits: { atOncePerson: 3 } }, onTestFinished);
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const roots: Message[] = [];
    for (let index = 0; index < 8; index += 1)
      roots.push(starting.ask(person, channel, `slowly the ${index}`));
    expect(await told(starting, person, channel, 5)).toMatch(
      /working on 3 messages.*when one of them is done/,
    );
    await scene.until('three run', () => scene.agent.tasks.length === 3);
    for (const { title } of scene.agent.tasks) await runs(starting, title);
    expect(starting.ephemeralTexts(person, channel)).toHaveLength(5);
    const begun = roots.find((root) => scene.replies(channel, root).length > 0);
    if (begun === undefined) throw new Error('Nothing runs.');
    await starting.press(person, channel, begun, 'stop');
    await scene.finished(channel, begun);
    starting.ask(person, channel, 'slowly the next');
    await runs(starting, 'slowly the next');
  });

  test('leaves a refused button ready to be pressed again', async ({ onTestFinished }) => {
    const starting = await openStartFormScene(
      { limits: { slackPace: 1 }, settings: { TURNS_PER_HOUR_PERSON: '1' } },
      onTestFinished,
    );
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, 'slowly to be stopped');
    await runs(starting, 'slowly to be stopped');
    await starting.press(person, channel, root, 'stop');
    await scene.finished(channel, root);
    for (const times of [1, 2]) {
      await starting.press(person, channel, root, 'retry');
      expect(await told(starting, person, channel, times)).toContain('one message in the past hour');
    }
    expect(scene.sentToAgent('slowly to be stopped').texts).toHaveLength(1);
  });

  test('lets a refused Continue and a refused correction through once there is room', async ({
    onTestFinished,
  }) => {
    const scene = await openAppScene(
      { limits: { slackPace: 1 }, settings: { TURNS_PER_HOUR_PERSON: '1' } },
      onTestFinished,
    );
    const starting = new StartFormScene(scene);
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '/lengthcut');
    await scene.finished(channel, root);
    const correct = async (words: string) => {
      scene.slack.edit(channel.id, root.ts, `${scene.mention} ${words}`);
      const note = await scene.until('the note is there', () =>
        scene.slack
          .ephemerals(person, channel)
          .find(({ blocks }) => JSON.stringify(blocks).includes('"correct"')),
      );
      await scene.slack.click({ person, channel, ts: note.ts, actionId: 'correct' });
    };
    await starting.press(person, channel, root, 'continue');
    expect(await told(starting, person, channel, 1)).toContain('one message in the past hour');
    await correct('what I mean');
    expect(await told(starting, person, channel, 3)).toContain('one message in the past hour');
    await sql`update turns set started_at = now() - interval '2 hours'`.execute(scene.sandbox.bot.store.db);
    // Buttons from before a restart still work.
    await scene.sandbox.restartBot();
    await starting.press(person, channel, root, 'continue');
    await scene.until('it goes on', () => scene.sentToAgent('/lengthcut').texts.length === 2);
    await sql`update turns set started_at = now() - interval '2 hours'`.execute(scene.sandbox.bot.store.db);
    await correct('what I meant');
    await scene.until('it is corrected', () => scene.sentToAgent('/lengthcut').texts.length === 3);
    expect(scene.sentToAgent('/lengthcut').texts.slice(1)).toEqual([
      'Continue.',
      expect.stringMatching(/^A correction to my message:.*what I meant$/),
    ]);
  });

  test('lets a person repeat a refused choice', async ({ onTestFinished }) => {
    const opened = Promise.withResolvers<void>();
    const script: AgentScript = async (turn) => {
      if (turn.text.includes('until the gate opens')) await opened.promise;
      if (turn.text.includes('slowly')) await turn.sleep(2_000_000);
      turn.write(`Skill: ${turn.skill ?? 'none'}.`);
    };
    const starting = await openStartFormScene(
      {
        agent: { script, behaviour: { skillOnTask: 'runs' } },
        limits: { atOncePerson: 1 },
      },
      onTestFinished,
    );
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--skill sumary what is refused?');
    await scene.finished(channel, root);
    const before = scene.reply(channel, root, 'until the gate opens');
    await scene.until('it works', () => scene.sentToAgent('what is refused?').texts.length === 1);
    const choose = async () => {
      await starting.press(person, channel, root, 'choose_again');
      await starting.form(person);
      await starting.send(person, { ...starting.filled(person), skill: 'summary' });
    };
    await choose();
    const other = starting.ask(person, channel, 'slowly another one');
    await runs(starting, 'slowly another one');
    opened.resolve();
    await scene.finished(channel, before);
    expect(await told(starting, person, channel)).toContain('working on one message');
    await starting.press(person, channel, other, 'stop');
    await scene.finished(channel, other);
    await choose();
    await scene.until('it goes on', () => scene.shown(channel, root).includes('Skill: skl_summary.'));
  });

  test('of a workspace applies to messages and to the form', async ({ onTestFinished }) => {
    const starting = await openStartFormScene(
      { limits: { atOnceWorkspace: 1 }, settings: { TURNS_PER_HOUR_WORKSPACE: '2' } },
      onTestFinished,
    );
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const root = scene.ask(channel, 'Ada works slowly');
    await runs(starting, 'Ada works slowly');
    starting.ask(person, channel, 'somebody else');
    expect(await told(starting, person, channel)).toContain('from this workspace');
    await starting.press(scene.ada, channel, root, 'stop');
    await scene.finished(channel, root);
    await scene.finished(channel, starting.ask(person, channel, 'now there is room'));
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const sent = await starting.send(person, { ...starting.filled(person), question: 'a form' });
    expect(JSON.stringify(sent.body)).toMatch(/This workspace has sent 2 messages in the past hour/);
    expect(starting.posts(channel, 'a form')).toEqual([]);
  });

  test('says in the status, in Home and to operators what it still allows', async ({ onTestFinished }) => {
    const starting = await openStartFormScene(
      {
        settings: { TURNS_PER_HOUR_PERSON: '3', TURNS_PER_HOUR_WORKSPACE: '4' },
        limits: { maxFileBytes: 20 * 1024 * 1024 },
      },
      onTestFinished,
    );
    const { scene } = starting;
    const { channel, person } = starting.personInChannel();
    const status = async (asker = person, word = 'status') => {
      const before = starting.ephemeralTexts(asker, channel).length;
      await starting.command(asker, channel, word);
      return told(starting, asker, channel, before + 1);
    };
    const home = async (asker: Person, text: string) => {
      scene.slack.openHome(asker);
      const shown = () => JSON.stringify(scene.slack.home(asker)?.blocks ?? []);
      await scene.until(`Home shows ${text}`, () => shown().includes(text));
      return shown();
    };
    const figures = async () => {
      const port = scene.sandbox.bot.port;
      return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    };
    expect(await status()).toContain(
      'You can send me 3 more messages this hour. Each file can be up to 21 MB.',
    );
    await scene.finished(channel, starting.ask(person, channel, 'one'));
    expect(await status(person, 'stop')).toBe(strings.command.noneOfYours);
    await home(person, 'You can send me 2 more messages this hour.');
    await scene.finished(channel, starting.ask(person, channel, 'two'));
    await scene.finished(channel, scene.ask(channel, 'of Ada'));
    // The workspace's is the tighter one for her.
    expect(await status(scene.ada)).toContain(
      'People in this workspace can send me 1 more message this hour.',
    );
    await scene.until('operators see it', async () => {
      const text = await figures();
      return (
        text.includes('taskthread_quota_messages_left{of="person"} 1\n') &&
        text.includes('taskthread_quota_messages_left{of="workspace"} 1\n') &&
        text.includes(`taskthread_file_limit_bytes ${20 * 1024 * 1024}\n`)
      );
    });
    await scene.finished(channel, starting.ask(person, channel, 'three'));
    expect(await status()).toMatch(
      /You've sent 3 messages.*You can send the next one in (1 h|60 min|59 min)\. Each file/,
    );
    const guest = scene.slack.createPerson({ name: 'guest', kind: 'guest' });
    const noAccess = await home(guest, "You don't have access to this agent");
    expect(noAccess).not.toContain('this hour');
    expect(noAccess).not.toContain('Each file');
    expect(await status(guest)).not.toContain('Each file');
  });
});
