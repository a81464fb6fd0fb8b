import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { FILES_TIMEOUT_MS } from '../../../src/features/task-details/archive-file.ts';
import { recordNotes } from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { findFreeDisk } from '../../support/free-disk.ts';
import { unpackedRecord } from '../../support/unpacked-record.ts';

/** Makes the files that its message names, each with its name or, after `name:`, so many letters. */
const script: AgentScript = async (turn) => {
  for (const [, name = '', size] of turn.text.matchAll(/(\S+\.\w+)(?::(\d+))?/g))
    await turn.result(name, 'text/plain', size === undefined ? `${name}\n` : 'x'.repeat(Number(size)));
  turn.write('Here they are.');
};
const scene = await openAppScene({ agent: { script }, limits: { watchMs: 0 } });
const { slack, agent } = scene;

afterEach(() => {
  vi.restoreAllMocks();
  return scene.reset();
});

async function asked(text: string) {
  const channel = scene.channel();
  const root = scene.ask(channel, text);
  await scene.finished(channel, root);
  return { channel, root };
}

/** The names of the files in the record that Ada gets of a thread's task, and its page. */
async function saved({ channel, root }: Awaited<ReturnType<typeof asked>>) {
  const files = () => slack.messages(slack.openDm(scene.ada)).flatMap(({ fileIds }) => fileIds);
  const before = files().length;
  const { ts, blocks } = await scene.messageWithButton(channel, root, 'menu');
  const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
  await slack.click({ person: scene.ada, channel, ts, actionId: 'menu', value });
  await scene.until('the record is there', () => files().length > before);
  const { names, page } = await unpackedRecord(await slack.fileBytes(files().at(-1) ?? ''));
  return { names: names.flatMap((name) => name.match(/(?<=\/)[^/]+\.txt$/) ?? []), page };
}

/** How often a page says this of a file. */
function said(page: string, why: string): number {
  return page.split(`not here: ${why}; id`).length - 1;
}

describe('the files of a record', () => {
  test('have room as long as the disk has, and else say that it is full', async ({ onTestFinished }) => {
    const of = await asked('one.txt:20000 two.txt:20000 large.txt:40000');
    onTestFinished(findFreeDisk(300_000).restore);
    const { names, page } = await saved(of);
    expect(names).toEqual(['one.txt', 'two.txt']);
    expect(said(page, recordNotes.files.noSpace)).toBe(1);
  });

  test('take so long together, and no more: those that are left then are named', async () => {
    const of = await asked('slow.txt later.txt');
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    // The limit of all files is set first; that of a single one stays as it is.
    const shortLimits = [3_000];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) =>
      timeout(ms === FILES_TIMEOUT_MS ? (shortLimits.pop() ?? ms) : ms),
    );
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    agent.faults.add({ call: 'GET download', fault: { kind: 'hold', until: released } });
    const { names, page } = await saved(of);
    release();
    expect(names).toEqual([]);
    expect(said(page, recordNotes.files.tooSlow)).toBe(2);
  });
});
