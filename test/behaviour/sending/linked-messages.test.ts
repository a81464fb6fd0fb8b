import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

const scene = await openAppScene({ limits: { maxTranscriptMessages: 4 } });
const { ada, grace, slack } = scene;
const { store } = scene.sandbox.bot;
const mary = slack.createPerson({ name: 'mary' });
const guest = slack.createPerson({ name: 'guest', kind: 'guest' });
const stranger = slack.createPerson({ name: 'stranger', kind: 'stranger' });

type Place = Partial<Parameters<typeof slack.createChannel>[0]>;

/** A channel of these people, or of three full members, with the bot. */
function place(name: string, more: Place = {}): Channel {
  return slack.createChannel({ name, members: [ada, grace, mary], ...more });
}

/** What the agent got of a question, and what its thread shows. */
async function outcome(channel: Channel, question: Message, title: string) {
  await scene.finished(channel, question);
  const { texts, fileIds } = scene.sentToAgent(title);
  return { prompt: texts.join('\n'), files: fileIds.flat().length, shown: scene.shown(channel, question) };
}

/** Ada asks about a message with a link. */
async function askAbout(channel: Channel, title: string, ...linked: Message[]) {
  const text = `${title} ${linked.map((message) => slack.permalink(message)).join(' ')}`;
  return outcome(channel, scene.ask(channel, text), title);
}

/** Grace's message with a file, and replies to it. */
function thread(channel: Channel, words: string, replies = 2): Message {
  const files = [{ name: 'plate.csv', mime: 'text/csv', bytes: 'well\nA1\n' }];
  const root = slack.say({ person: grace, channel, text: words, files });
  for (let count = 1; count <= replies; count += 1)
    scene.reply(channel, root, `${words}, reply ${count}`, { person: grace });
  return root;
}

/** Where the message is, and where it is asked about. */
interface Case {
  linked?: Place;
  asking?: Place;
  direct?: boolean;
}

const lab = place('lab');
let questions = 0;

describe.concurrent('a link to a message', () => {
  test('of the same private, shared channel with guests brings the message, its thread and its files', async () => {
    const everybody = [ada, grace, mary, guest, stranger];
    const channel = place('alpha', { private: true, shared: true, members: everybody });
    const root = thread(channel, 'the alpha plates');
    const { prompt, files, shown } = await askAbout(channel, 'sum these up', root);
    expect(prompt).toContain(`The Slack message at <${slack.permalink(root)}> (quoted; times in UTC):`);
    expect(prompt).toMatch(/> \*\*grace\*\*, .*:\n> the alpha plates\n> \[files: plate\.csv\]/);
    expect(prompt).toContain('The replies to it (quoted: all 2 messages; times in UTC):');
    expect(prompt).toMatch(/The question:\n\nsum these up https/);
    expect(files).toBe(1);
    expect(shown).not.toContain('left out');
  });

  test('that is too long brings its beginning, and the thread says so', async () => {
    const channel = place('long');
    const linked = slack.say({ person: grace, channel, text: `the long plates ${'x '.repeat(11_000)}end` });
    const { prompt, shown } = await askAbout(channel, 'what about this length', linked);
    expect(prompt).toContain('the long plates x x');
    expect(prompt).not.toContain('x end');
    expect(shown).toContain("it's too long, so I sent only its beginning.");
    expect(shown).not.toContain('without it');
  });

  test('to a reply brings that reply alone', async () => {
    const channel = place('beta');
    const root = thread(channel, 'the beta plates');
    const [, , second] = slack.thread(channel.id, root.ts);
    const { prompt, files } = await askAbout(channel, 'about one reply', second ?? root);
    expect(prompt).toContain('the beta plates, reply 2');
    expect(prompt).not.toMatch(/the beta plates(?!, reply 2)/);
    expect(files).toBe(0);
    const shortened = scene.ask(
      channel,
      `about a short link ${slack.permalink(second ?? root).split('?')[0]}`,
    );
    expect((await outcome(channel, shortened, 'about a short link')).shown).toContain('“Copy link”');
    if (second !== undefined) slack.remove(channel.id, second.ts);
    const gone = await askAbout(channel, 'about a reply that is gone', second ?? root);
    expect(gone.shown).toContain('the message no longer exists.');
  });

  test('brings of a long thread the message and its newest replies, and says how many are missing', async () => {
    const channel = place('gamma');
    const root = thread(channel, 'the gamma plates', 0);
    for (let count = 1; count <= 6; count += 1) {
      const files = count === 1 ? [{ name: 'early.csv', mime: 'text/csv', bytes: 'well\nB2\n' }] : [];
      scene.reply(channel, root, `the gamma plates, reply ${count}`, { person: grace, files });
    }
    const { prompt, files } = await askAbout(channel, 'about a long thread', root);
    expect(prompt.match(/the gamma plates, reply \d/g)?.map((words) => words.at(-1))).toEqual([
      '4',
      '5',
      '6',
    ]);
    expect(prompt).toContain('(quoted: the newest 3 messages, 3 older messages left out; times in UTC)');
    expect(prompt).toMatch(/> the gamma plates\n/);
    expect(files).toBe(1);
  });

  test("in one's own direct message is read in every conversation that one is in", async () => {
    const secret = place('delta', { private: true, shared: true, members: [ada, grace, guest] });
    const root = thread(secret, 'the delta plates');
    const dm = slack.openDm(ada);
    const { prompt, files } = await askAbout(dm, 'tell me of delta', root);
    expect(prompt).toContain('The Slack message in #delta at');
    expect(prompt).toContain('the delta plates, reply 2');
    expect(files).toBe(1);
  });

  test('of a public channel is read among full members, and for a member alone', async () => {
    const open = place('epsilon', { members: [grace] });
    const root = thread(open, 'the epsilon plates');
    const among = await askAbout(place('epsilon-two', { private: true }), 'among us', root);
    expect(among.prompt).toContain('the epsilon plates, reply 2');
    const alone = await askAbout(slack.openDm(ada), 'for me', root);
    expect(alone.prompt).toContain('the epsilon plates, reply 2');
  });

  test('is not read any more right after its channel became private or shared, or its reader was removed', async () => {
    const open = place('just-open', { members: [grace] });
    const root = thread(open, 'the open plates');
    const asking = place('just-asking');
    expect((await askAbout(asking, 'while it is open', root)).prompt).toContain('the open plates');
    slack.convert(open, 'private');
    expect((await askAbout(asking, 'once it is private', root)).prompt).not.toContain('the open plates');
    slack.convert(open, 'public');
    open.shared = true;
    expect((await askAbout(asking, 'once it is shared', root)).prompt).not.toContain('the open plates');
    const secret = place('just-secret', { private: true });
    const hidden = thread(secret, 'the secret plates');
    const dm = slack.openDm(mary);
    const ask = (title: string) => {
      const text = `${title} ${slack.permalink(hidden)}`;
      return outcome(dm, slack.say({ person: mary, channel: dm, text }), title);
    };
    expect((await ask('while she is in it')).prompt).toContain('the secret plates');
    slack.kick(secret, mary);
    expect((await ask('once she is not')).prompt).not.toContain('the secret plates');
  });

  test.each<[string, Case, string]>([
    ['private', { linked: { private: true } }, "it's in a private conversation"],
    [
      'of a shared channel',
      { linked: { shared: true } },
      'guests or people from another organisation read along',
    ],
    [
      'asked beside a guest',
      { asking: { members: [ada, guest] } },
      'guests or people from another organisation read along',
    ],
    [
      'asked beside a stranger',
      { asking: { members: [ada, stranger] } },
      'guests or people from another organisation read along',
    ],
    ['where the bot is not', { linked: { bot: false } }, "I can't see that conversation."],
    [
      'private and not theirs, in a direct message',
      { linked: { private: true, members: [grace] }, direct: true },
      "you're not in that conversation",
    ],
    [
      'of a shared channel that is not theirs, in a direct message',
      { linked: { shared: true, members: [grace] }, direct: true },
      'guests or people from another organisation read along',
    ],
  ])('is named and never read if it is %s', async (what, { linked = {}, asking, direct = false }, why) => {
    const hidden = place(`hidden-${what}`, linked);
    const root = thread(hidden, `the secret plates ${what}`);
    const channel = direct ? slack.openDm(ada) : asking === undefined ? lab : place(`asking-${what}`, asking);
    questions += 1;
    const title = `what about number ${questions} of these`;
    const { prompt, files, shown } = await askAbout(channel, title, root);
    expect(prompt).toContain(title);
    expect(prompt).not.toContain('the secret plates');
    expect(prompt).toContain(`${strings.leftOut}\n- “https://`);
    expect(prompt).toContain(why);
    expect(files).toBe(0);
    expect(shown.split(why)).toHaveLength(2);
  });

  test('is left out from the fourth on, and one that is gone is named', async () => {
    const channel = place('zeta');
    const messages = [1, 2, 3, 4].map((count) =>
      slack.say({ person: grace, channel, text: `zeta ${count}` }),
    );
    const [first] = messages;
    if (first !== undefined) slack.remove(channel.id, first.ts);
    const { prompt, shown } = await askAbout(channel, 'about all of these', ...messages);
    expect(prompt.match(/^> zeta \d/gm)).toEqual(['> zeta 2', '> zeta 3']);
    expect(shown).toContain("the message no longer exists, or it's a reply whose link was shortened.");
    expect(shown).toContain('I follow at most three links in one message.');
  });

  test("is read instead of Slack's own preview, whose words never go along, whoever pasted it", async () => {
    const open = thread(place('iota'), 'the iota plates', 1);
    const hidden = thread(place('kappa', { private: true }), 'the kappa plates');
    const links = [open, hidden].map((message) => `${slack.permalink(message)}?thread_ts=${message.ts}`);
    const more = { previews: [open, hidden] };
    const asked = scene.ask(lab, `compare the previews ${links.join(' ')}`, more);
    const own = await outcome(lab, asked, 'compare the previews');
    expect(own.prompt.match(/^>.*the iota plates$/gm)).toEqual(['> the iota plates']);
    expect(own.prompt).toContain('the iota plates, reply 1');
    expect(own.files).toBe(1);
    expect(own.shown.match(/was left out/g)).toHaveLength(1);
    expect(own.shown).toContain("it's in a private conversation");

    const show = () =>
      slack.say({ person: grace, channel: lab, text: `see ${links[1]}`, previews: [hidden] });
    const [shown, pointedAt] = [show(), show()];
    const above = scene.reply(lab, shown, `${scene.mention} sum up what she shows`, { person: mary });
    const linked = scene.ask(lab, `sum up what is linked ${slack.permalink(pointedAt)}`);
    const forwarded = scene.ask(lab, 'sum up what is forwarded', { forwards: pointedAt });
    await slack.shortcut({ person: ada, callbackId: 'ask_about', channel: lab.id, ts: pointedAt.ts });
    await scene.until('the form is open', () => slack.modal(ada)?.callbackId === 'start');
    expect(JSON.stringify(slack.modal(ada))).not.toContain('the kappa plates');
    await scene.until('it is taken', async () => {
      await slack.submitView(ada, { question: 'sum up this one' });
      return slack.modal(ada) === undefined;
    });
    await scene.until('it is asked', () => scene.sentToAgent('sum up this one').texts.length > 0);
    await scene.until('its thread names it', () =>
      scene.shown(lab, pointedAt).includes("Slack's previews of messages"),
    );
    await outcome(lab, above, 'sum up what she shows');
    await outcome(lab, linked, 'sum up what is linked');
    expect(scene.shown(lab, shown)).toContain("I don't send Slack's previews of messages.");
    for (const title of ['sum up what she shows', 'sum up what is linked', 'sum up this one']) {
      const { texts, fileIds } = scene.sentToAgent(title);
      expect(texts.join()).toMatch(/> see https/);
      expect(texts.join()).not.toContain('the kappa plates');
      expect(texts.join()).toContain(`${strings.leftOut}\n- “https:`);
      expect(fileIds.flat()).toEqual([]);
    }
    expect(own.prompt).not.toContain('the kappa plates');
    const { prompt } = await outcome(lab, forwarded, 'sum up what is forwarded');
    expect(prompt).toContain('> see https');
    expect(prompt).not.toContain('the kappa plates');
  });

  test('counts only in the own words of the asker', async () => {
    const channel = place('eta');
    const linked = slack.say({ person: grace, channel, text: 'the words of eta' });
    const link = slack.permalink(linked);
    const above = slack.say({ person: mary, channel, text: `see ${link}` });
    const text = `${scene.mention} what of this?\n> ${link}\n\`${link}\`\n\`\`\`\n${link}\n\`\`\``;
    const asked = scene.reply(channel, above, text);
    const { prompt, shown } = await outcome(channel, asked, 'what of this');
    expect(prompt.split(link)).toHaveLength(5);
    expect(prompt).not.toContain('the words of eta');
    expect(shown).not.toContain('left out');
    const said = scene.reply(channel, above, `is it ${link}`);
    await scene.finished(channel, said);
    expect(scene.sentToAgent('what of this').texts.join('\n').split('the words of eta')).toHaveLength(2);
    await scene.finished(channel, scene.reply(channel, above, 'and what did you say?'));
    expect(scene.sentToAgent('what of this').texts.join('\n').split('the words of eta')).toHaveLength(2);
  });

  test('leaves no words behind once their writer or the time has erased them', async () => {
    const channel = place('theta');
    const [linked, other, above] = ['one', 'two', 'three'].map((name) => {
      const person = slack.createPerson({ name: `writer-${name}` });
      const own = place(`theta-${name}`, { members: [person, ada] });
      return slack.say({ person, channel: own, text: `words of ${name}` });
    });
    if (linked === undefined || other === undefined || above === undefined)
      throw new Error('There are three.');
    const talk = slack.channel(above.channel);
    await scene.finished(talk, scene.reply(talk, above, `${scene.mention} what was said above?`));
    const { prompt } = await askAbout(channel, 'whose words are these', linked);
    await askAbout(channel, 'and whose are these', other);
    expect(prompt).toContain('words of one');
    const kept = async () => {
      const tables = ['turns', 'messages', 'threads', 'pending_edits'] as const;
      const places = [channel.id, talk.id];
      const rows = tables.map((table) =>
        store.db.selectFrom(table).selectAll().where('channel', 'in', places).execute(),
      );
      const found = JSON.stringify(await Promise.all(rows)).matchAll(/words of (one|two|three)/g);
      return new Set([...found].map(([, name]) => name));
    };
    const { personErasure, retention } = store;
    expect(await kept()).toEqual(new Set(['one', 'two', 'three']));
    for (const { user } of [linked, above]) {
      expect(await personErasure.eraseUser(slack.team.id, user)).toBeDefined();
      expect(await personErasure.eraseUser(slack.team.id, user)).toBeUndefined();
    }
    expect(await kept()).toEqual(new Set(['two']));
    await sql`
      update turns set finished_at = finished_at - interval '8 days' where channel = ${channel.id}`.execute(
      store.db,
    );
    await retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
    expect(await kept()).toEqual(new Set());
    expect(await personErasure.eraseUser(slack.team.id, other.user)).toBeUndefined();
  });
});

test.concurrent('a question that waits for a linked message is stopped at once', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ limits: { linkMs: 600_000 } }, onTestFinished);
  const channel = own.channel();
  const linked = own.slack.say({ person: own.grace, channel, text: 'the linked words' });
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '300' } } as const;
  own.slack.faults.add({ call: /^(?:users\.list|conversations\.history)$/, fault });
  for (const place of [channel, own.channel()]) {
    const question = own.ask(place, `stop this ${own.slack.permalink(linked)}`);
    const reply = await own.messageWithButton(place, question, 'stop');
    await own.slack.click({ person: own.ada, channel: place, ts: reply.ts, actionId: 'stop' });
    await own.finished(place, question);
    expect(own.shown(place, question)).toContain('Stopped by');
  }
  expect(own.agent.tasks).toEqual([]);
});

test.each(['POST /experimental/tasks', /^POST \/experimental\/files/])(
  'a linked message is read again where the question waits for %s, and its file does not go once it is deleted',
  async (call) => {
    const own = await openAppScene({ limits: { linkAgeMs: 500 } }, onTestFinished);
    const open = own.slack.createChannel({ name: 'open', members: [own.ada, own.grace] });
    const files = [{ name: 'plate.csv', mime: 'text/csv', bytes: 'well\nA1\n' }];
    const linked = own.slack.say({ person: own.grace, channel: open, text: 'withdrawn words', files });
    const lift = own.agent.faults.add({ call, fault: { kind: 'status', status: 503 } });
    const channel = own.channel();
    const question = own.ask(channel, `look at this ${own.slack.permalink(linked)}`);
    await own.until('the service is asked', () => own.agent.calls.some(({ status }) => status === 503));
    own.slack.remove(open.id, linked.ts);
    await pause(600);
    lift();
    await own.finished(channel, question);
    const { texts, fileIds } = own.sentToAgent('look at this');
    expect(texts.join()).not.toContain('withdrawn words');
    expect(texts.join()).toContain('the message no longer exists');
    expect(fileIds.flat()).toEqual([]);
    expect(own.shown(channel, question)).toContain('the message no longer exists');
  },
);

test.concurrent('a question does not wait for a linked message, or its replies, that Slack does not deliver', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ limits: { linkMs: 5_000 } }, onTestFinished);
  const channel = own.channel();
  const linked = own.slack.say({ person: own.grace, channel, text: 'the linked words' });
  own.reply(channel, linked, 'a reply to them');
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '600' } } as const;
  const asked = async (title: string, call: string, place = channel) => {
    const lift = own.slack.faults.add({ call, fault });
    const question = own.ask(place, `${title} ${own.slack.permalink(linked)}`);
    await own.finished(place, question);
    lift();
    return { prompt: own.sentToAgent(title).texts.join(), shown: own.shown(place, question) };
  };
  const alone = await asked('without replies', 'conversations.replies');
  expect(alone.prompt).toContain('(quoted; replies that were not read: 1; times in UTC):');
  expect(alone.prompt).toContain('> the linked words');
  for (const late of [
    await asked('without the message', 'conversations.history'),
    await asked('without the people', 'users.list', own.channel()),
  ]) {
    expect(late.prompt).not.toContain('the linked words');
    expect(late.prompt).toContain("Slack didn't let me read it in time.");
    expect(late.shown).toContain("Slack didn't let me read it in time.");
  }
});

test.concurrent('a question does not wait for the name of the channel of a linked message', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ limits: { linkMs: 5_000 } }, onTestFinished);
  const linked = own.slack.say({ person: own.grace, channel: own.channel(), text: 'words elsewhere' });
  const dm = own.slack.openDm(own.ada);
  await own.finished(dm, own.slack.say({ person: own.ada, channel: dm, text: 'hello' }));
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '600' } } as const;
  own.slack.faults.add({ call: 'conversations.info', fault });
  const text = `what is at ${own.slack.permalink(linked)}`;
  await own.finished(dm, own.slack.say({ person: own.ada, channel: dm, text }));
  expect(own.sentToAgent('what is at').texts.join()).toMatch(/The Slack message at .*> words elsewhere/s);
});

test.concurrent('an app that may read once a minute reads the message alone, and names what it cannot read in time', async ({
  onTestFinished,
}) => {
  const own = await openAppScene(
    { slack: { commercial: true }, settings: { SLACK_DISTRIBUTED: 'true' }, limits: { linkMs: 2_000 } },
    onTestFinished,
  );
  const channel = own.channel();
  const roots = ['first', 'second'].map((words) => {
    const root = own.slack.say({ person: own.grace, channel, text: `the ${words} message` });
    own.reply(channel, root, `reply to the ${words} message`);
    return root;
  });
  const question = own.ask(channel, `read both ${roots.map((root) => own.slack.permalink(root)).join(' ')}`);
  await own.finished(channel, question);
  const prompt = own.sentToAgent('read both').texts.join('\n');
  expect(prompt.match(/the (?:first|second) message/g)).toHaveLength(1);
  expect(prompt).toContain('(quoted; replies that were not read: 1; times in UTC):');
  expect(own.shown(channel, question)).toContain("Slack didn't let me read it in time.");
});
