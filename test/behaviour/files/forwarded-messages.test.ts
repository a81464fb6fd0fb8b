import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene({ settings: { ALLOWED_USERS: 'guests' }, limits: { maxInlineBytes: 0 } });
const { ada, agent, grace, slack } = scene;
const { store } = scene.sandbox.bot;

/** Grace's message in another channel, with a file. */
function original(name: string, text: string, more: Partial<Parameters<typeof slack.createChannel>[0]> = {}) {
  const channel = slack.createChannel({ name, members: [ada, grace], ...more });
  const files = [{ name: `${name}.csv`, mime: 'text/csv', bytes: 'well\nA1\n' }];
  return slack.say({ person: grace, channel, text, files });
}

function forward({ channel, ts }: Message) {
  return { forwards: { channel, ts } };
}

/** The person opens the form about a message, again where the bot was too busy to open it in time. */
async function openForm({ channel, ts }: Message, person = ada): Promise<void> {
  let pressedAt = -Infinity;
  await scene.until('the form is open', async () => {
    if (slack.modal(person)?.callbackId === 'start') return true;
    if (performance.now() - pressedAt < 5_000) return false;
    pressedAt = performance.now();
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts });
    return false;
  });
}

/** The person asks about a message in the form that its menu opens. */
async function askAbout(message: Message, question: string, person = ada): Promise<void> {
  await openForm(message, person);
  await scene.until('it is taken', async () => {
    await slack.submitView(person, { question });
    return slack.modal(person) === undefined;
  });
  await scene.until('it is asked', () => scene.sentToAgent(question).texts.length > 0);
}

const timeOf = ({ ts }: Message) => new Date(Number(ts) * 1_000).toISOString().slice(0, 16).replace('T', ' ');

describe.concurrent('a forwarded message', () => {
  test('is quoted with its writer, channel and time, and its file goes with it', async () => {
    const secret = original('plates', 'these *failed* twice', { private: true });
    const root = scene.ask(scene.channel(), 'why did they fail?', forward(secret));
    await scene.finished({ id: root.channel }, root);
    const { texts, fileIds } = scene.sentToAgent('why did they fail?');
    expect(texts).toEqual([
      `why did they fail?\n\n> Forwarded message from @grace in #${secret.channel}, ${timeOf(secret)} UTC:\n>\n` +
        '> these **failed** twice\n>\n> [files: plates.csv]',
    ]);
    const names = fileIds.flat().map((id) => agent.files.find((file) => file.id === id)?.name);
    expect(names).toEqual(['plates.csv']);
  });

  test('without words is a question of its own', async () => {
    const dm = slack.openDm(ada);
    const root = slack.say({
      person: ada,
      channel: dm,
      text: '',
      ...forward(original('mute', 'is this odd?')),
    });
    await scene.finished(dm, root);
    const asked = agent.tasks.filter(({ messages }) => JSON.stringify(messages).includes('is this odd?'));
    expect(asked).toHaveLength(1);
    expect(asked[0]?.messages.flatMap(({ input }) => input?.fileIds ?? [])).toHaveLength(1);
  });

  test.each([
    { what: 'of a private channel that is not theirs', isPrivate: true, isSent: false },
    { what: 'of a private channel of theirs', isPrivate: true, isIn: true, isSent: true },
    { what: 'of a public channel, to a guest', kind: 'guest', isSent: false },
    { what: 'of a public channel, to a member', isSent: true },
  ] as const)('$what goes with its file only to those who may see it', async (about) => {
    const { what, isSent, kind, isPrivate = false, isIn = false } = { kind: 'member' as const, ...about };
    const asker = slack.createPerson({ name: what.replaceAll(/\W+/g, '-'), kind });
    const place = { private: isPrivate, members: isIn ? [grace, asker] : [grace] };
    const secret = original(asker.name, `the results ${what}`, place);
    const channel = scene.channel();
    const shown = slack.say({ person: grace, channel, text: 'look', ...forward(secret) });
    await askAbout(shown, `what is this ${what}`, asker);
    const { texts, fileIds } = scene.sentToAgent(`what is this ${what}`);
    expect(texts[0]).toContain(`the results ${what}`);
    expect(fileIds.flat()).toHaveLength(isSent ? 1 : 0);
    const leftOut = `“${asker.name}.csv” was left out: I couldn't confirm that you may see it.`;
    const isNamed = () => scene.shown(channel, shown).includes(leftOut);
    await scene.until('it is sent or named', () => isSent || isNamed());
    expect(isNamed()).toBe(!isSent);
  });

  test('keeps its pasted table, in its place and as a file', async () => {
    const channel = slack.createChannel({ name: 'tables', members: [ada, grace] });
    const said = slack.say({ person: grace, channel, text: 'our genes', table: [['gene'], ['BRCA1']] });
    const root = scene.ask(scene.channel(), 'which genes are these?', forward(said));
    await scene.finished({ id: root.channel }, root);
    const { texts, fileIds } = scene.sentToAgent('which genes are these?');
    expect(texts[0]).toContain('> our genes\n>\n> | gene |\n> | --- |\n> | BRCA1 |');
    expect(fileIds.flat()).toHaveLength(1);
  });

  test('in which nothing can be read is named as left out', async () => {
    const share = { id: 1, is_share: true, author_id: grace.id, author_name: 'grace', message_blocks: [] };
    const channel = scene.channel();
    const root = scene.ask(channel, 'what is in this?', { attachments: [share] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(
      "“Forwarded message from grace” was left out: I can't read anything in it.",
    );
  });

  test('whose file Slack does not show the bot names it without calling it deleted', async () => {
    const unseen = original('unseen', 'these are elsewhere');
    const about = unseen.fileIds[0] ?? '';
    const body = { ok: false, error: 'file_not_found' };
    slack.faults.add({ call: 'files.info', about, fault: { kind: 'status', status: 200, body } });
    const channel = scene.channel();
    const root = scene.ask(channel, 'what is unseen?', forward(unseen));
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain("“unseen.csv” was left out: Slack doesn't show it to me");
  });

  test("and an app's alert are read as text where a thread is quoted", async () => {
    const channel = scene.channel();
    const alarms = slack.createPerson({ name: 'alarms', kind: 'bot' });
    slack.invite(channel, alarms);
    const fields = [{ title: 'Room', value: '*B12*' }, { value: 'since 9:00' }];
    const alert = {
      id: 1,
      pretext: 'Freezer:',
      title: 'too warm',
      title_link: 'https://example.org/a',
      text: '-62 °C',
      fields,
      fallback: 'x',
    };
    const root = slack.say({ person: alarms, channel, text: '', attachments: [alert] });
    scene.reply(channel, root, 'see', { person: grace, ...forward(original('cold', 'it was cold')) });
    const asked = scene.reply(channel, root, `${scene.mention} what is going on?`);
    await scene.finished(channel, asked);
    const [prompt] = scene.sentToAgent('what is going on?').texts;
    expect(prompt).toContain(
      '> Freezer:\n>\n> [too warm](https://example.org/a)\n>\n> -62 °C\n>\n> **Room**: **B12**\n> since 9:00',
    );
    expect(prompt).toContain('> > Forwarded message from @grace in #cold');
    expect(prompt).toContain('> > it was cold');
  });
});

describe.concurrent("Slack's preview of a link", () => {
  test('is one line, marked as such', async () => {
    const preview = {
      id: 1,
      from_url: 'https://example.org/paper',
      title: 'A paper',
      text: 'On *plates*.\nMore',
      fallback: 'x',
    };
    const root = scene.ask(scene.channel(), 'read https://example.org/paper', { attachments: [preview] });
    await scene.finished({ id: root.channel }, root);
    expect(scene.sentToAgent('read').texts).toEqual([
      "read https://example.org/paper\n\n[Slack's preview of https://example.org/paper: A paper – On plates. More]",
    ]);
  });

  test('that comes later is no edit of a message that waits, and none of one that was sent', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'count slowly');
    const next = scene.reply(channel, root, 'then read https://example.com/');
    slack.unfurl(channel, next.ts);
    await scene.finished(channel, next);
    slack.unfurl(channel, root.ts);
    // Its writer takes the preview away again.
    slack.edit(channel, root.ts, `${scene.mention} count slowly`);
    await scene.finished(channel, scene.reply(channel, root, 'thanks'));
    const sent = scene.sentToAgent('count slowly').texts.join('\n');
    expect(sent.match(/count slowly|then read|thanks/g)).toEqual(['count slowly', 'then read', 'thanks']);
    expect(JSON.stringify(slack.ephemerals(ada, channel))).not.toContain('"correct"');
  });
});

test('attachments that are too long together are named as left out', async () => {
  const channel = scene.channel();
  const long = (title: string) => ({
    id: 1,
    title,
    text: 'many words '.repeat(4_000),
    secret: 'unread field',
    fallback: 'x',
  });
  const root = scene.ask(channel, 'read all of it', { attachments: [long('the first'), long('the second')] });
  await scene.finished(channel, root);
  const [prompt] = scene.sentToAgent('read all of it').texts;
  expect(prompt).toContain('**the first**');
  expect(prompt).toContain('[Left out: attachment “the second”]');
  expect(scene.shown(channel, root)).toContain("“Attachment “the second”” was left out: what's pasted");
  const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
  const stored = JSON.stringify((await store.messages.get(key))?.content?.attachments);
  expect(stored.length).toBeLessThan(64 * 1024);
  expect(stored).not.toContain('unread field');
});

test('nothing is left of a forwarded message once its writer or the time has erased it', async () => {
  const channel = scene.channel();
  const [one, two, three, four] = ['one', 'two', 'three', 'four'].map((name) => {
    const person = slack.createPerson({ name: `writer-${name}` });
    const own = slack.createChannel({ name: `own-${name}`, members: [person, ada] });
    return slack.say({ person, channel: own, text: `words of ${name}` });
  });
  if (!one || !two || !three || !four) throw new Error('There are four.');
  const asked = [one, two].map((said) => scene.ask(channel, 'whose words are these?', forward(said)));
  for (const root of asked) await scene.finished(channel, root);
  await askAbout(slack.say({ person: grace, channel, text: '', ...forward(three) }), 'and these?');
  // An open form, and a correction that nobody sends.
  const shown = slack.say({ person: grace, channel, text: 'look', ...forward(four) });
  await openForm(shown);
  const kept = async () => {
    const tables = ['turns', 'messages', 'threads', 'pending_edits', 'task_starts'] as const;
    const rows = tables.map((table) =>
      store.db.selectFrom(table).selectAll().where('channel', '=', channel.id).execute(),
    );
    const found = JSON.stringify(await Promise.all(rows)).matchAll(/words of (one|two|three|four)/g);
    return new Set([...found].map(([, name]) => name));
  };
  expect(await kept()).toEqual(new Set(['one', 'two', 'three', 'four']));
  for (const { user } of [one, three, four]) {
    expect(await store.personErasure.eraseUser(slack.team.id, user)).toBeDefined();
    expect(await store.personErasure.eraseUser(slack.team.id, user)).toBeUndefined();
  }
  expect(await kept()).toEqual(new Set(['two']));
  for (const [table, column] of [
    ['turns', 'finished_at'],
    ['messages', 'received_at'],
    ['threads', 'last_used_at'],
  ] as const)
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} - interval '8 days'
      where channel = ${channel.id}`.execute(store.db);
  await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
  expect(await kept()).toEqual(new Set());
});
