import type { Channel, Message } from '../sandbox/slack/slack-workspace.ts';
import { contentOf, type Name, type PointedInput, type Stage, Thread } from './scripted-thread.ts';

/** What people point at in the hour: pasted tables, forwards, links and files from before. */
export async function playPointing(stage: Stage): Promise<void> {
  const { slack } = stage.sandbox;
  const plates = slack.createChannel({ name: 'plates' });
  await Promise.all([
    pasteTables(stage, plates),
    forward(stage, plates),
    link(stage, plates),
    mentionBarely(stage, plates),
    askAboutEarlierFiles(stage, plates),
  ]);
}

function words(text: string): PointedInput {
  return { kind: 'words', words: text };
}

function file(name: string): PointedInput {
  return { kind: 'file', content: contentOf(name) };
}

function table(rows: number, name: string): string[][] {
  return [
    ['well', name],
    ...Array.from({ length: rows - 1 }, (_, row) => [`${name}-${row + 1}`, `${row}.50`]),
  ];
}

function csvOf(rows: readonly (readonly string[])[]): PointedInput {
  return { kind: 'file', content: `${rows.map((row) => row.join(',')).join('\n')}\n` };
}

/** Small, long and too large ones, and one without words. */
async function pasteTables(stage: Stage, channel: Channel): Promise<void> {
  const { slack } = stage.sandbox;
  await stage.at(2);
  const thread = new Thread(stage, channel);
  const [small, long, tooLarge, mute] = [
    table(12, 'small'),
    table(400, 'long'),
    table(25_001, 'huge'),
    table(8, 'mute'),
  ];
  await thread.ask('ada', 'which of these is an outlier?', 'question', {
    mentions: true,
    table: small,
    pointsAt: [words('| small-11 | 10.50 |'), csvOf(small)],
  });
  await thread.ask('grace', 'and in this longer one?', 'question', {
    table: long,
    pointsAt: [words('see the file table-1.csv'), csvOf(long)],
  });
  await stage.at(15);
  // On a busy machine the database may not take a message of megabytes before the statement times out.
  if (!stage.isHurried)
    await new Thread(stage, channel).ask('alan', 'is this too large?', 'question', {
      mentions: true,
      table: tooLarge,
      pointsAt: [words('| huge-49 | 48.50 |'), { kind: 'named', name: 'table-1.csv' }],
    });
  await stage.at(34);
  const direct = new Thread(stage, slack.openDm(stage.person('edsger')));
  await direct.call('edsger', { table: mute, pointsAt: [csvOf(mute)] });
  await direct.ask('edsger', 'now sum it up', 'question');
}

/** A message with a file, in a channel of these people. */
function original(stage: Stage, name: string, text: string, members: readonly Name[]): Message {
  const { slack } = stage.sandbox;
  const people = members.map((member) => stage.person(member));
  const channel = slack.createChannel({ name, private: true, members: people });
  const files = [{ name: `${name}.csv`, mime: 'text/csv', bytes: contentOf(`${name}.csv`) }];
  return slack.say({ person: stage.person('grace'), channel, text, files });
}

/** With words and without, and one whose file the asker may not see. */
async function forward(stage: Stage, channel: Channel): Promise<void> {
  const { slack } = stage.sandbox;
  await stage.at(8);
  const forwards = original(stage, 'repeats', 'these repeats failed twice', ['ada', 'grace']);
  await new Thread(stage, channel).ask('ada', 'why did they fail?', 'question', {
    mentions: true,
    forwards,
    pointsAt: [
      words('Forwarded message from @grace'),
      words('> these repeats failed twice'),
      file('repeats.csv'),
    ],
  });
  await stage.at(21);
  const mute = original(stage, 'odd', 'is this curve odd?', ['alan', 'grace']);
  await new Thread(stage, slack.openDm(stage.person('alan'))).ask('alan', '', 'question', {
    forwards: mute,
    pointsAt: [words('> is this curve odd?'), file('odd.csv')],
  });
  await stage.at(39);
  const hidden = original(stage, 'budget', 'this is what we spent', ['grace']);
  const thread = new Thread(stage, channel);
  thread.say('grace', 'look at that', 'talk', { forwards: hidden });
  await thread.ask('barbara', 'is it too much?', 'question', {
    mentions: true,
    pointsAt: [
      words('this is what we spent'),
      { kind: 'named', name: 'budget.csv', secret: contentOf('budget.csv') },
    ],
  });
}

/** To messages that may be read and to others, with Slack's previews. */
async function link(stage: Stage, channel: Channel): Promise<void> {
  const { slack } = stage.sandbox;
  const to = (message: Message) => slack.permalink(message);
  await stage.at(11);
  const open = slack.createChannel({ name: 'protocols' });
  const root = slack.say({
    person: stage.person('grace'),
    channel: open,
    text: 'the protocol of run 18',
    files: [{ name: 'protocol.csv', mime: 'text/csv', bytes: contentOf('protocol.csv') }],
  });
  slack.say({ person: stage.person('alan'), channel: open, thread: root.ts, text: 'step 4 was too warm' });
  await new Thread(stage, channel).ask('ada', `what went wrong in ${to(root)}`, 'question', {
    mentions: true,
    previews: [root],
    pointsAt: [words('> the protocol of run 18'), words('> step 4 was too warm'), file('protocol.csv')],
  });
  await stage.at(25);
  const hidden = original(stage, 'salaries', 'nobody else reads this', ['ada', 'grace']);
  const gone = slack.say({ person: stage.person('grace'), channel: open, text: 'this is gone soon' });
  slack.remove(open, gone.ts);
  await new Thread(stage, channel).ask('ada', `compare ${to(hidden)} with ${to(gone)}`, 'question', {
    mentions: true,
    pointsAt: [
      { kind: 'named', name: to(hidden), secret: 'nobody else reads this' },
      { kind: 'named', name: to(gone), secret: 'this is gone soon' },
    ],
  });
  await stage.at(44);
  const direct = new Thread(stage, slack.openDm(stage.person('ada')));
  await direct.ask('ada', `and for me: ${to(hidden)}`, 'question', {
    pointsAt: [words('> nobody else reads this'), file('salaries.csv')],
  });
  await stage.at(50);
  const address = 'https://example.org/paper';
  const preview = { id: 1, from_url: address, title: 'On plates', text: 'Most fail twice.', fallback: 'x' };
  await new Thread(stage, channel).ask('edsger', `what does ${address} say?`, 'question', {
    mentions: true,
    attachments: [preview],
    pointsAt: [words(`[Slack's preview of ${address}: On plates – Most fail twice.]`)],
  });
}

/** Mentions without a question, which text, files and questions follow. */
async function mentionBarely(stage: Stage, channel: Channel): Promise<void> {
  await stage.at(5);
  const thread = new Thread(stage, channel);
  await thread.call('barbara', { mentions: true });
  await thread.ask('barbara', 'which column is largest?', 'question', {
    file: 'largest.csv',
    pointsAt: [file('largest.csv')],
  });
  await thread.call('barbara', { file: 'later.csv', pointsAt: [file('later.csv')] });
  await thread.ask('edsger', 'and in this one?', 'question');
  await stage.at(29);
  const between = new Thread(stage, channel);
  between.say('grace', 'the plates of today', 'talk', { file: 'today.csv' });
  between.say('alan', 'they look fine', 'talk');
  await between.call('ada', { mentions: true });
  await between.ask('ada', 'what is the mean in the table above?', 'question', {
    pointsAt: [file('today.csv'), words('> they look fine')],
  });
}

/** A mention in a thread of people where more files were shared than go along. */
async function askAboutEarlierFiles(stage: Stage, channel: Channel): Promise<void> {
  await stage.at(18);
  const thread = new Thread(stage, channel);
  const names = Array.from({ length: 7 }, (_, index) => `plate-${index}.csv`);
  for (const name of names) thread.say('alan', `here is ${name}`, 'talk', { file: name });
  await thread.ask('grace', 'which plate is the odd one?', 'question', {
    mentions: true,
    pointsAt: names.map((name, index) =>
      index < 2 ? { kind: 'named', name, secret: contentOf(name) } : file(name),
    ),
  });
}
