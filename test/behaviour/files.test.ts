import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SlackFile } from '../../src/sandbox/slack/workspace.ts';
import { openScene } from './scene.ts';

const mib = 1024 * 1024;
const scene = await openScene({
  s3: true,
  agent: { dialect: { partSize: 5 * mib, multipartThreshold: 5 * mib, refusedTypes: ['.exe'] } },
  settings: { FILE_LIMIT_MIB: '16' },
});
const { agent } = scene;

/** What stands in for a file that cannot be had, and the words that say why. */
const missing: { what: string; file: { name: string; kind: SlackFile['kind'] }; says: string }[] = [
  {
    what: 'the scope is missing',
    file: { name: 'locked.csv', kind: 'no_scope' },
    says: 'not allowed to read files',
  },
  { what: 'it lies elsewhere', file: { name: 'elsewhere.csv', kind: 'external' }, says: 'another service' },
  { what: 'it was deleted', file: { name: 'gone.csv', kind: 'tombstone' }, says: 'it was deleted' },
  { what: 'the plan hides it', file: { name: 'old.csv', kind: 'hidden_by_limit' }, says: 'plan hides it' },
];

describe.concurrent('files', () => {
  test('a large file arrives whole, in parts, and its results are posted with working links', async () => {
    const channel = scene.channel();
    const row = 'A1,12.5,north\n';
    const bytes = Buffer.from(`name,value,side\n${row.repeat(Math.ceil((12 * mib) / row.length))}`);
    const root = scene.ask(channel, 'summarise this large one', {
      files: [{ name: 'large.csv', mime: 'text/csv', bytes }],
    });
    await scene.finished(channel, root);
    const stored = agent.files.find(({ name }) => name === 'large.csv');
    expect(await stored?.sha256()).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(agent.calls.filter(({ name }) => name.endsWith('/parts')).length).toBeGreaterThan(0);
    const links = JSON.stringify(scene.replies(channel, root).map(({ blocks }) => blocks));
    const urls = [...links.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
  });

  test('a small file goes in one piece, with whatever name it has', async () => {
    const channel = scene.channel();
    const name = 'Größe <1> & "so" 测试 😀.csv';
    const root = scene.ask(channel, 'a file with an odd name', {
      files: [{ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }],
    });
    await scene.finished(channel, root);
    expect(agent.files.some((file) => file.name === name)).toBe(true);
    expect(scene.told('a file with an odd name').fileIds[0]).toHaveLength(1);
  });

  test.each(missing)('the thread says which file is missing when $what', async ({ file, says }) => {
    const channel = scene.channel();
    const root = scene.ask(channel, `with ${file.name}`, {
      files: [
        { ...file, mime: 'text/csv', bytes: 'a,b\n1,2\n' },
        { name: 'fine.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' },
      ],
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(says);
    expect(scene.told(`with ${file.name}`).fileIds[0]).toHaveLength(1);
  });

  test('too large, empty and refused files are named, and the message goes without them', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'none of these', {
      files: [
        { name: 'huge.csv', mime: 'text/csv', size: 17 * mib },
        { name: 'empty.csv', mime: 'text/csv', bytes: '' },
        { name: 'virus.exe', mime: 'application/x-msdownload', bytes: 'MZ' },
      ],
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain('“huge.csv” was left out: it is too large');
    expect(shown).toContain('“empty.csv” was left out: it is empty');
    expect(shown).toContain('“virus.exe” was left out: the agent service did not take it');
    expect(scene.told('none of these').texts).toEqual(['none of these']);
  });
});
