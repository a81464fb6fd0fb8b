import { describe, expect, test } from 'vitest';
import { ThreadFiles } from '../../../src/relay/replies/thread-files.ts';
import type { ThreadWork } from '../../../src/relay/runtime/deps.ts';
import type { StagedFile } from '../../../src/slack/file-uploads.ts';
import type { SlackFileRow, SlackFileState } from '../../../src/store/schema.ts';
import { silentLog } from '../../support/silent-log.ts';

const rest = { name: 'rest.md', title: 'The rest', content: 'größer', openerLength: 0, answerLength: 9_000 };
const turn = { id: 't', workspace: 'T1', channel: 'C1', thread_ts: '1.000000' };
const lease = {
  signal: new AbortController().signal,
  draining: new AbortController().signal,
  remainingMs: () => 8_000,
};

/** Attaches the rest after an earlier process left this record, and where Slack has this status for its file. */
async function attach(before: SlackFileState | undefined, status: 'absent' | 'shared') {
  const steps: string[] = [];
  let bytes = '';
  const rows = new Map<string, SlackFileRow>();
  const setRow = (part: string, state: SlackFileState) => {
    rows.set(part, {
      workspace: 'T1',
      turn_id: 't',
      part,
      slack_file_id: 'F1',
      state,
      intended_at: new Date(0),
    });
  };
  if (before !== undefined) setRow('rest', before);
  const slackFiles = {
    ofTurn: async () => rows,
    begin: async (_: unknown, part: string, id: string) => {
      steps.push(`begin ${part} ${id}`);
      setRow(part, 'begun');
    },
    setState: async (_: unknown, parts: readonly string[], state: SlackFileState) => {
      steps.push(`${parts.join()} is ${state}`);
      for (const part of parts) setRow(part, state);
    },
    delete: async (_: unknown, parts: readonly string[]) => {
      for (const part of parts) rows.delete(part);
    },
  };
  const uploads = {
    shareOutcome: async () => status,
    stage: async (request: StagedFile) => {
      await request.onFileId?.('F2');
      for await (const chunk of request.content) bytes += Buffer.from(chunk).toString('utf8');
      expect(request.sizeBytes).toBe(Buffer.byteLength(bytes));
      return { fileId: 'F2' };
    },
    share: async () => void steps.push('share'),
  };
  const work = {
    deps: { store: { slackFiles }, log: silentLog },
    workspace: { uploads, wasThereAfter: async () => true, blocksLeftOutUntil: new Map() },
    lease,
  } as unknown as ThreadWork;
  const files = new ThreadFiles(work, turn);
  expect(await files.attach('rest', rest)).toBe(true);
  return { steps, bytes };
}

const wholeUpload = ['begin rest F2', 'rest is staged', 'rest is sharing', 'share', 'rest is shared'];

describe('the rest of an answer', () => {
  test('is uploaded whole, and its id is recorded before people can see it', async () => {
    expect(await attach(undefined, 'absent')).toEqual({ steps: wholeUpload, bytes: 'größer' });
  });

  test('is not uploaded again where Slack shows it', async () => {
    expect((await attach('sharing', 'shared')).steps).toEqual(['rest is shared']);
  });

  test('is uploaded again where Slack does not show it', async () => {
    expect((await attach('sharing', 'absent')).steps).toEqual(wholeUpload);
  });

  test('is uploaded again where its share was never requested', async () => {
    expect((await attach('begun', 'absent')).steps).toEqual(wholeUpload);
  });

  test('is left alone once it is shared', async () => {
    expect((await attach('shared', 'absent')).steps).toEqual([]);
  });
});
