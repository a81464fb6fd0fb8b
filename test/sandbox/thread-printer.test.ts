import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { ThreadPrinter } from '../../sandbox/thread-printer.ts';
import { client, workspace } from '../support/slack-workspace-fixture.ts';

async function printedWorkspace() {
  const slack = await workspace();
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const channel = slack.createChannel({ name: 'lab' });
  slack.createChannel({ name: 'reading-club' });
  const lines: string[] = [];
  const printer = new ThreadPrinter(slack, performance.now(), (line) =>
    lines.push(stripVTControlCharacters(line)),
  );
  return { slack, ada, channel, lines, printer, output: () => lines.join('\n') };
}

test('people and channels appear by name, never by id', async () => {
  const { slack, ada, channel, printer, output } = await printedWorkspace();
  const text = `<@${slack.bot.userId}> ask <@${ada.id}> in #reading-club about a < b`;
  const root = slack.say({ person: ada, channel, text });
  const reply = { channel: channel.id, thread_ts: root.ts, text: `<@${ada.id}>, see <#${channel.id}>` };
  await client(slack).chat.postMessage(reply);
  printer.printThread(channel.id, root.ts);
  const text1 = '@Taskthread ask @Ada in #reading-club about a < b';
  expect(output().split(text1)).toHaveLength(3);
  expect(output().split('@Ada, see #lab')).toHaveLength(3);
  expect(output()).toMatch(/#lab +Ada +posts/);
  expect(output()).not.toMatch(/<[@#]/);
});

test('a message that holds only a picture appears as its name and size', async () => {
  const { slack, ada, channel, printer, lines } = await printedWorkspace();
  const files = [{ name: 'run-18-chart.png', mime: 'image/png', bytes: Buffer.alloc(3_200) }];
  const root = slack.say({ person: ada, channel, text: '', files });
  expect(lines.at(-1)).toContain('│ [picture run-18-chart.png, 3.2 KB]');
  printer.printThread(channel.id, root.ts);
  expect(lines.slice(-2)).toEqual(['\nAda:', '  [picture run-18-chart.png, 3.2 KB]']);
});

test('buttons appear in brackets, those of a row on one line', async () => {
  const { slack, ada, channel, printer, lines } = await printedWorkspace();
  const root = slack.say({ person: ada, channel, text: 'hello' });
  const button = (text: string) => ({
    type: 'button' as const,
    action_id: text,
    text: { type: 'plain_text' as const, text },
  });
  await client(slack).chat.postMessage({
    channel: channel.id,
    thread_ts: root.ts,
    text: 'fallback',
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'chart' }, accessory: button('Download') },
      { type: 'actions', elements: [button('Stop'), button('Retry')] },
    ],
  });
  printer.printThread(channel.id, root.ts);
  expect(lines.slice(-4)).toEqual(['\nTaskthread:', '  chart', '  [Download]', '  [Stop] [Retry]']);
});

test('an edit prints one line, the first that it changed, and how many more it changed', async () => {
  const { slack, ada, channel, lines } = await printedWorkspace();
  const root = slack.say({ person: ada, channel, text: 'hello' });
  const bot = client(slack);
  const { ts = '' } = await bot.chat.postMessage({
    channel: channel.id,
    thread_ts: root.ts,
    text: 'first\nsecond',
  });
  lines.splice(0);
  await bot.chat.update({ channel: channel.id, ts, text: 'first\nsecond and third\nfourth\nfifth' });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/#lab +Taskthread edits │ second and third \(\+2 lines\)$/);
});

test('a line is as wide as the terminal at most, wide characters included', async () => {
  const { slack, ada, channel, lines } = await printedWorkspace();
  slack.say({ person: ada, channel, text: '標準偏差 '.repeat(40) });
  const line = lines.at(-1) ?? '';
  const columns = Array.from(line).reduce((sum, one) => sum + (/\p{Script=Han}/u.test(one) ? 2 : 1), 0);
  expect(line).toMatch(/差?…$/);
  expect([columns > 110, columns <= 120]).toEqual([true, true]);
});

test('what happens outside the threads is a line of its own', async () => {
  const { lines, printer } = await printedWorkspace();
  printer.printEvent('kill -9 42');
  expect(lines.at(-1)).toMatch(/^ +0\.\d s {2}▶ kill -9 42$/);
});
