import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import {
  answerFiles,
  controlRefused,
  filesNotFound,
  recordNotes,
} from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { unpacked } from '../../support/unpacked-record.ts';

/** Makes the files that its message names, each with its name and the place in the list as bytes. */
const maker: AgentScript = async (turn) => {
  const names = turn.text.match(/\S+\.\w+/g) ?? [];
  for (const [at, name] of names.entries()) await turn.result(name, 'text/plain', `${name} ${at}\n`);
  turn.write('Here they are.');
};
const scene = await openAppScene({ agent: { script: maker }, limits: { watchMs: 0 } });
const { slack } = scene;

function modal(person: Person = scene.ada): string {
  return JSON.stringify(slack.modal(person)?.blocks ?? []);
}

function sent(person: Person = scene.ada): { fileIds: string[]; text: string }[] {
  return slack.messages(slack.openDm(person)).filter(({ fileIds }) => fileIds.length > 0);
}

async function asked(text: string, channel = scene.channel()): Promise<{ channel: Channel; root: Message }> {
  const root = scene.ask(channel, text);
  await scene.finished(channel, root);
  return { channel, root };
}

async function press(channel: Channel, root: Message, person: Person = scene.ada): Promise<void> {
  if (slack.modal(person) !== undefined) await slack.closeView(person);
  const { ts } = await scene.messageWithButton(channel, root, 'download_all');
  await slack.click({ person, channel, ts, actionId: 'download_all' });
}

/** The names and texts of the files in the next archive that a person gets, which was asked for before. */
async function nextArchive(before: number, person: Person = scene.ada): Promise<Record<string, string>> {
  await scene.until('the archive is there', () => sent(person).length > before);
  const [id = ''] = sent(person).at(-1)?.fileIds ?? [];
  const files = await unpacked(await slack.fileBytes(id));
  return Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.toString('utf8')]));
}

describe('Download all', () => {
  afterEach(() => scene.reset());

  test("sends one ZIP file of this answer's files alone, those of one name side by side", async () => {
    const { channel, root } = await asked('first.txt other.txt');
    const second = scene.reply(channel, root, 'table.csv table.csv Table.csv ../up.txt');
    await scene.finished(channel, second);
    const before = sent().length;
    await press(channel, root);
    expect(await nextArchive(before)).toEqual({
      'table.csv': 'table.csv 0\n',
      'table (2).csv': 'table.csv 1\n',
      'Table (3).csv': 'Table.csv 2\n',
      '__up.txt': '../up.txt 3\n',
    });
    await scene.until('it is told', () => modal().includes(answerFiles.done));
    expect(slack.file(sent().at(-1)?.fileIds[0] ?? '').name).toMatch(
      /^files-\d{4}-\d\d-\d\d-first-txt-other-txt\.zip$/,
    );
  });

  test('stands below a list of several files, and comes once for two presses', async () => {
    const alone = await asked('one.txt');
    expect(JSON.stringify(scene.replies(alone.channel, alone.root))).not.toContain('download_all');
    const { channel, root } = await asked('a.txt b.txt');
    const before = sent().length;
    await press(channel, root);
    await press(channel, root);
    await nextArchive(before);
    await scene.expectStays(() => sent().length, before + 1);
  });

  test('comes again for a press right after it has come', async () => {
    const { channel, root } = await asked('c.txt d.txt');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    slack.faults.add({ call: 'views.update', about: answerFiles.done, fault: held, times: 1 });
    const before = sent().length;
    await press(channel, root);
    await nextArchive(before);
    await press(channel, root);
    await scene.until('it is asked for', () => modal().includes(answerFiles.begun));
    release();
    expect(Object.keys(await nextArchive(before + 1))).toEqual(['c.txt', 'd.txt']);
    await scene.until('it is told', () => modal().includes(answerFiles.done));
  });

  test('names the files that cannot be downloaded, and sends the others', async () => {
    const { channel, root } = await asked('good.txt bad.txt');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    scene.agent.faults.add({ call: 'GET download', fault: { kind: 'hold', until: released }, times: 1 });
    const before = sent().length;
    await press(channel, root);
    const downloads = () => scene.agent.calls.filter(({ name }) => name === 'GET download').length;
    const began = downloads();
    await scene.until('the first download begins', () => downloads() > began || modal().includes('packing'));
    scene.agent.faults.add({ call: 'GET download', fault: { kind: 'status', status: 403 } });
    release();
    const files = await nextArchive(before);
    expect(Object.keys(files)).toEqual(['good.txt']);
    const missing = answerFiles.missing([`bad.txt (${recordNotes.files.failed})`]);
    expect(sent().at(-1)?.text).toContain(missing);
    await scene.until('the window says so', () => modal().includes(missing));
  });

  test('packs no web page in place of a file, and names the file', async () => {
    const { channel, root } = await asked('first.txt other.txt');
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const fault = { kind: 'status', status: 200, headers, body: gzipSync('<html>Sign in</html>') } as const;
    scene.agent.faults.add({ call: 'GET download', fault, times: 2 });
    const before = sent().length;
    await press(channel, root);
    const files = await nextArchive(before);
    expect(Object.values(files)).toEqual([expect.stringMatching(/^(?:first|other)\.txt \d\n$/)]);
    expect(sent().at(-1)?.text).toMatch(
      new RegExp(`(?:first|other)\\.txt \\(${recordNotes.files.failed}\\)`),
    );
  });

  test('packs a web page that is a result, compressed as it comes', async () => {
    const { channel, root } = await asked('report.xhtml other.txt');
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
    const fault = { kind: 'status', status: 200, headers, body: gzipSync('<html>Plots</html>') } as const;
    scene.agent.faults.add({ call: 'GET download', fault });
    const before = sent().length;
    await press(channel, root);
    expect(await nextArchive(before)).toEqual({ 'report.xhtml': '<html>Plots</html>' });
  });

  test('leaves out a file that is too large for one archive and names it, or says so where all are', async () => {
    const { channel, root } = await asked('huge.bam more.txt');
    const results = scene.agent.tasks.flatMap((task) => task.results);
    const setSize = (name: string) => {
      for (const { file } of results) if (file.name === name) file.size = 2_000_000_000;
    };
    setSize('huge.bam');
    const before = sent().length;
    await press(channel, root);
    expect(await nextArchive(before)).toEqual({ 'more.txt': 'more.txt 1\n' });
    const missing = [`huge.bam (${recordNotes.files.tooMuch(990_000_000)})`];
    expect(sent().at(-1)?.text).toContain(answerFiles.missing(missing));
    setSize('more.txt');
    const calls = scene.agent.calls.length;
    await press(channel, root);
    await scene.until('it is told', () => modal().includes(answerFiles.tooLarge));
    expect(scene.agent.calls.slice(calls).map(({ name }) => name)).not.toContain('GET download');
  });

  test('is refused to whoever has left the channel, and says where the files are gone', async () => {
    const { channel, root } = await asked('left.txt gone.txt');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    await press(channel, root, scene.grace);
    await scene.until('it is packed', () => modal(scene.grace).includes(answerFiles.uploading));
    slack.kick(channel, scene.grace);
    release();
    await scene.until('it is refused', () => modal(scene.grace).includes(controlRefused.outsider));
    expect(sent(scene.grace)).toEqual([]);
    const task = scene.taskOf('left.txt gone.txt');
    task?.results.splice(0);
    await press(channel, root);
    await scene.until('it is told', () => modal().includes(filesNotFound));
  });
});

test('Save record in the menu below an answer sends the record of its task', async () => {
  const { channel, root } = await asked('Keep this please');
  const { ts, blocks } = await scene.messageWithButton(channel, root, 'menu');
  const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
  const before = sent().length;
  if (slack.modal(scene.ada) !== undefined) await slack.closeView(scene.ada);
  await slack.click({ person: scene.ada, channel, ts, actionId: 'menu', value });
  const page = Object.entries(await nextArchive(before)).find(([name]) => name.endsWith('/task/record.html'));
  expect(page?.[1]).toContain('Keep this please');
});
