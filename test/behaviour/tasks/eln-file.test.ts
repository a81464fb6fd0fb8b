import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { recordNotes, taskRecord } from '../../../src/render/strings/index.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { crateProblems } from '../../support/ro-crate/crate-problems.ts';
import {
  brokenRules,
  ELN_RULES,
  type ElnFile,
  elnFile,
  entryOf,
  the,
} from '../../support/ro-crate/eln-rules.ts';
import { unpacked, unpackedRecord } from '../../support/unpacked-record.ts';

const LARGE = 20_000;
/** Answers with sources, and makes the files that its message names after "makes". */
const script: AgentScript = async (turn) => {
  const [, list = ''] = turn.text.split('makes ');
  for (const [at, name] of list.split(/, /).entries())
    if (/\.\w+$/.test(name))
      await turn.result(name, 'text/plain', name.startsWith('large') ? 'x'.repeat(LARGE) : `${name} ${at}\n`);
  turn.write(
    'See 10.1038/nature12373, PMID 23903654, GSE131907, PDB 6M0J and <https://www.ensembl.org/info>.',
  );
};
const scene = await openAppScene({
  agent: { script },
  limits: { watchMs: 0 },
  settings: { RECORD_FILES_MIB: '0.015' },
});
const { slack, agent } = scene;
const sheep = { name: 'sheep.csv', mime: 'text/csv', bytes: 'name,legs\nDolly,4\n' };

function sent() {
  return slack.messages(slack.openDm(scene.ada)).filter(({ fileIds }) => fileIds.length > 0);
}

async function asked(
  text: string,
  files: (typeof sheep)[] = [],
): Promise<{ channel: Channel; root: Message }> {
  const channel = scene.channel();
  const root = scene.ask(channel, text, { files });
  await scene.finished(channel, root);
  return { channel, root };
}

/** Presses "Save record" in the menu below an answer. */
async function press({ channel, root }: { channel: Channel; root: Message }): Promise<void> {
  const { ts, blocks } = await scene.messageWithButton(channel, root, 'menu');
  const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
  if (slack.modal(scene.ada) !== undefined) await slack.closeView(scene.ada);
  await slack.click({ person: scene.ada, channel, ts, actionId: 'menu', value });
}

/** The record that Ada gets of a thread's task, and what its message says. */
async function saved(of: { channel: Channel; root: Message }) {
  const before = sent().length;
  await press(of);
  await scene.until('the record is there', () => sent().length > before);
  const { fileIds, text } = sent().at(-1) ?? { fileIds: [], text: '' };
  const [id = ''] = fileIds;
  const { name } = slack.file(id);
  const eln = elnFile(name ?? '', await unpacked(await slack.fileBytes(id)));
  const folder = String(name).replace(/\.eln$/, '');
  const read = (file: string) => Buffer.from(eln.entries.get(`${folder}/task/${file}`) ?? '').toString();
  const names = [...eln.entries.keys()].map((entry) => entry.slice(folder.length + 1));
  return {
    eln,
    text,
    read,
    names: names.filter((entry) => entry.startsWith('task/')).map((entry) => entry.slice(5)),
  };
}

/** What the metadata say of a file by its name. */
function described(eln: ElnFile, name: string) {
  return eln.metadata['@graph'].find((one) => one.name === name) ?? { '@id': '', '@type': '' };
}

afterEach(() => scene.reset());

describe('the .eln file of a task', () => {
  let made: Awaited<ReturnType<typeof saved>> | undefined;
  let record: NonNullable<typeof made>;
  // Made once; here, because a hook of the whole group is not tried again where a busy machine takes too long.
  beforeEach(async () => {
    const words =
      'Größe der “Schafe” / 羊? makes counts.csv, counts.csv, Größe β.tsv, 图.png, archive.fastq.gz, ro-crate-metadata.json';
    made ??= await saved(await asked(words, [sheep, { ...sheep, name: '../con.csv' }]));
    record = made;
  });

  test.each(Object.keys(ELN_RULES))('%s', (rule) => {
    expect(ELN_RULES[rule]?.(record.eln)).toEqual([]);
  });

  test("is an RO-Crate for npm's ro-crate and jsonld", async () => {
    const { metadata } = record.eln;
    const ids = metadata['@graph'].filter((one) => one['@type'] === 'File').map((one) => one['@id']);
    expect(await crateProblems(JSON.stringify(metadata), [...ids, './task/'])).toEqual([]);
  });

  test('names who asked as author of their own files alone', async () => {
    const of = await asked('First');
    const { channel, root } = of;
    await scene.finished(channel, scene.reply(channel, root, '', { person: scene.grace, files: [sheep] }));
    const own = { files: [{ ...sheep, name: 'own.csv' }] };
    await scene.finished(channel, scene.reply(channel, root, 'Compare these', own));
    const { eln } = await saved(of);
    const authors = ['sheep.csv', 'own.csv'].map((name) => {
      const { '@type': type, author } = described(eln, name);
      return [type, author];
    });
    expect(authors).toEqual([
      ['File', undefined],
      ['File', { '@id': `#person-${scene.ada.id}` }],
    ]);
  });

  test('holds the files that people sent and the agent made, each under a name of its own', () => {
    const { names, read } = record;
    expect(names).toEqual([
      ...['sheep.csv', 'con_.csv', 'counts.csv', 'counts-2.csv', 'Gro_e.tsv', 'file.png', 'archive.fastq.gz'],
      ...['ro-crate-metadata_.json', 'record.html'],
    ]);
    expect(read('sheep.csv')).toBe(sheep.bytes);
    expect([read('counts.csv'), read('counts-2.csv')]).toEqual(['counts.csv 0\n', 'counts.csv 1\n']);
    expect(described(record.eln, 'Größe β.tsv')).toMatchObject({
      '@id': './task/Gro_e.tsv',
      encodingFormat: 'text/tab-separated-values',
    });
  });

  test('calls articles and data what they are, with their ids as names', () => {
    const typeOf = (name: string) => described(record.eln, name)['@type'];
    const names = ['10.1038/nature12373', 'PMID 23903654', 'GSE131907', 'PDB 6M0J', 'www.ensembl.org/info'];
    const article = 'ScholarlyArticle';
    expect(names.map(typeOf)).toEqual([article, article, 'Dataset', 'Dataset', 'WebPage']);
    expect(the(record.eln, './').citation).toHaveLength(5);
  });

  test('has the question and the answer in the text of its entry, but no page around them', () => {
    const text = String(entryOf(record.eln).text);
    expect(text).toContain('Größe der “Schafe” / 羊?');
    expect(text).toContain('See 10.1038/nature12373');
    expect(text).toContain('<code>counts-2.csv</code>');
    expect(text).not.toMatch(/<(?:html|head|style|main|details)\b/);
    expect(record.read('record.html')).toContain(text.slice(0, 300));
  });

  test.each<[string, string, (eln: ElnFile) => unknown]>([
    ['only one context', 'has the context', ({ metadata }) => Object.assign(metadata, { '@context': 'x' })],
    ['no licence', 'has a root with', (eln) => Object.assign(the(eln, './'), { license: undefined })],
    ['no date', 'has a root with', (eln) => Object.assign(the(eln, './'), { datePublished: undefined })],
    [
      'keywords as a list',
      'has an entry with',
      (eln) => Object.assign(entryOf(eln), { keywords: ['a', 'b'] }),
    ],
    [
      'times with Z',
      'has an entry with',
      (eln) => Object.assign(entryOf(eln), { temporal: '2026-11-20T10:00:00Z' }),
    ],
    [
      'authors as a list',
      'has one person',
      (eln) => Object.assign(entryOf(eln), { author: [entryOf(eln).author] }),
    ],
    [
      'a program as author',
      'has one person',
      (eln) => Object.assign(entryOf(eln), { author: { '@id': '#agent' } }),
    ],
    ['two types', 'has one flat', (eln) => Object.assign(entryOf(eln), { '@type': ['Dataset', 'Message'] })],
    [
      'a node inline',
      'is flat',
      (eln) => Object.assign(entryOf(eln), { comment: [{ '@type': 'Comment', text: 'x' }] }),
    ],
    [
      'citations in the entry',
      'has an entry without',
      (eln) => Object.assign(entryOf(eln), { citation: [] }),
    ],
    ['no sum', 'describes each', (eln) => Object.assign(described(eln, 'sheep.csv'), { sha256: undefined })],
    [
      'a size as a number',
      'describes each',
      (eln) => Object.assign(described(eln, 'sheep.csv'), { contentSize: 18 }),
    ],
    [
      'an encoded id',
      'describes each',
      (eln) => Object.assign(described(eln, 'sheep.csv'), { '@id': './task/she%65p.csv' }),
    ],
    ['a file that hangs on nothing', 'describes each', (eln) => Object.assign(entryOf(eln), { hasPart: [] })],
    ['a file that is missing', 'describes each', (eln) => dropEntry(eln, 'sheep.csv')],
    ['a folder as an entry', 'has no entry for a folder', (eln) => addEntry(eln, '')],
    ['a name with a space', 'has names', (eln) => addEntry(eln, 'task/a b.txt')],
    ['a file named as metadata', 'has no further', (eln) => addEntry(eln, 'task/run_metadata.json')],
    [
      'a person of whom nothing tells',
      'has no node',
      ({ metadata }) => metadata['@graph'].push({ '@id': '#x', '@type': 'Person', name: 'X' }),
    ],
    [
      'a version of the app',
      'has a descriptor',
      (eln) => Object.assign(the(eln, 'ro-crate-metadata.json'), { version: '0.9' }),
    ],
    [
      'no publisher',
      'has a publisher',
      (eln) => Object.assign(the(eln, 'ro-crate-metadata.json'), { sdPublisher: undefined }),
    ],
    [
      'a data set elsewhere',
      'has no Dataset',
      (eln) => Object.assign(described(eln, 'GSE131907'), { '@id': 'https://x.org/' }),
    ],
  ])('would not pass with %s', (_spoiled, rule, spoil) => {
    const eln = elnFile(record.eln.name, new Map(record.eln.entries));
    expect(brokenRules(eln)).toEqual([]);
    spoil(eln);
    expect(brokenRules(eln).filter((name) => name.startsWith(rule))).toHaveLength(1);
  });
});

function addEntry(eln: ElnFile, name: string): void {
  eln.entries = new Map([...eln.entries, [`${eln.name.slice(0, -4)}/${name}`, Buffer.of()]]);
}

function dropEntry(eln: ElnFile, name: string): void {
  eln.entries = new Map([...eln.entries].filter(([entry]) => !entry.endsWith(`/${name}`)));
}

describe('a record whose files cannot all be had', () => {
  test('names those that are too large with their ids and sizes, and holds the others', async () => {
    const { eln, names, read, text } = await saved(await asked('Large: makes large.txt, small.txt', [sheep]));
    expect(names).toEqual(['sheep.csv', 'small.txt', 'record.html']);
    const file = described(eln, 'large.txt');
    expect(file).toMatchObject({ '@type': 'CreativeWork', contentSize: String(LARGE) });
    const why = recordNotes.files.tooMuch(0.015 * 1024 * 1024);
    for (const page of [read('record.html'), String(entryOf(eln).text)])
      expect(page).toContain(`not here: ${why}; id ${String(file.identifier)}`);
    expect(text).toContain(taskRecord.missing(1));
    expect(brokenRules(eln)).toEqual([]);
  });

  test('takes from Slack what the service no longer has', async () => {
    const { channel, root } = await asked('Gone there: makes none', [sheep]);
    const mend = agent.faults.add({
      call: /^GET \/experimental\/files\/\{file_id\}/,
      fault: { kind: 'status', status: 404 },
    });
    const { eln, read } = await saved({ channel, root });
    mend();
    expect(read('sheep.csv')).toBe(sheep.bytes);
    expect(brokenRules(eln)).toEqual([]);
  });

  test('goes without what neither has, and without what somebody deleted in Slack', async () => {
    const other = { ...sheep, name: 'goats.csv', bytes: 'name,legs\nBilly,4\n' };
    // Slack keeps a table as text that can be edited.
    const snippet = { ...sheep, name: 'lambs.csv', kind: 'snippet' as const };
    const { channel, root } = await asked('Deleted: makes none', [sheep, other, snippet]);
    const [first = '', second = '', third = ''] = root.fileIds;
    for (const id of [first, third]) Object.assign(slack.file(id), { isDeleted: true, kind: 'tombstone' });
    scene.slack.faults.add({ call: 'files.info', about: second, fault: slackError('not_visible') });
    const goats = agent.files.findLast(({ name }) => name === 'goats.csv');
    agent.faults.add({
      call: /^GET \/experimental\/files\/\{file_id\}/,
      about: goats?.id ?? '',
      fault: { kind: 'status', status: 404 },
    });
    const { eln, names, read, text } = await saved({ channel, root });
    expect(names).toEqual(['record.html']);
    expect(read('record.html')).toContain(`not here: ${recordNotes.files.deleted}`);
    expect(read('record.html')).toContain(`not here: ${recordNotes.files.gone}`);
    expect(text).toContain(taskRecord.missing(3));
    expect(brokenRules(eln)).toEqual([]);
  });

  test('stays whole where a file breaks off, which it names', async () => {
    const of = await asked('Broken: makes good.txt, bad.txt');
    const bad = agent.tasks.flatMap(({ results }) => results).find(({ file }) => file.name === 'bad.txt');
    if (bad !== undefined) bad.file.size += 1;
    const { eln, names, read } = await saved(of);
    expect(names).toEqual(['good.txt', 'record.html']);
    expect(read('record.html')).toContain(`not here: ${recordNotes.files.failed}`);
    expect(brokenRules(eln)).toEqual([]);
  });
});

test('a record comes once and whole where its process dies between the upload and the share', async () => {
  const of = await asked('Once: makes once.txt', [sheep]);
  const before = sent().length;
  const shares = () =>
    slack.calls.filter(({ method, ok }) => ok && method === 'files.completeUploadExternal').length;
  const sharesBefore = shares();
  const hit = Promise.withResolvers<void>();
  const never = new Promise<void>(() => undefined);
  const held = {
    kind: 'hold',
    get until() {
      hit.resolve();
      return never;
    },
  } as const;
  scene.slack.faults.add({ call: 'files.completeUploadExternal', fault: held, times: 1 });
  await press(of);
  await hit.promise;
  // The call of a process that dies comes to nothing; another one claims its job.
  const { db } = scene.sandbox.bot.store;
  const expired = { claim_id: randomUUID(), claimed_until: new Date(0), due_at: new Date(0) };
  await db.updateTable('jobs').set(expired).where('kind', '=', JOB_KIND.taskRecord).execute();
  await scene.until('the record is there', () => sent().length > before);
  const [id = ''] = sent().at(-1)?.fileIds ?? [];
  const eln = elnFile(slack.file(id).name ?? '', await unpacked(await slack.fileBytes(id)));
  expect(brokenRules(eln)).toEqual([]);
  expect([...eln.entries.keys()].map((entry) => entry.split('/').at(-1))).toContain('once.txt');
  await scene.expectStays(() => sent().length, before + 1);
  expect(shares()).toBe(sharesBefore + 1);
});

test('a record holds no files where the operator wants none, and names them', async ({ onTestFinished }) => {
  const other = await openAppScene(
    { limits: { watchMs: 0 }, settings: { RECORD_FILES_MIB: '0' } },
    onTestFinished,
  );
  const channel = other.channel();
  const root = other.ask(channel, 'Look at this', { files: [sheep] });
  await other.finished(channel, root);
  const { ts, blocks } = await other.messageWithButton(channel, root, 'menu');
  const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
  await other.slack.click({ person: other.ada, channel, ts, actionId: 'menu', value });
  const files = () => other.slack.messages(other.slack.openDm(other.ada)).flatMap(({ fileIds }) => fileIds);
  const [id = ''] = await other.until('the record is there', () =>
    files().length > 0 ? files() : undefined,
  );
  const { names, page } = await unpackedRecord(await other.slack.fileBytes(id));
  expect(names.map((name) => name.split('/').at(-1))).toEqual(['record.html', 'ro-crate-metadata.json']);
  expect(page).toContain(
    `<td class="file">sheep.csv</td><td class="size">18 bytes</td><td>not here: ${recordNotes.files.tooMuch(0)}`,
  );
});

function slackError(error: string) {
  return { kind: 'status', status: 200, body: { ok: false, error } } as const;
}
