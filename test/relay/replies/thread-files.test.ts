import { describe, expect, test } from 'vitest';
import { ThreadFiles } from '../../../src/relay/replies/thread-files.ts';
import type { ThreadWork } from '../../../src/relay/runtime/deps.ts';
import type { StagedFile } from '../../../src/slack/file-uploads.ts';
import { StoreError } from '../../../src/store/errors.ts';
import type { Post, PostState } from '../../../src/store/schema.ts';
import { intendedPost, type PostOutcome } from '../../../src/store/threads/posts.ts';
import { silentLog } from '../../support/silent-log.ts';

const rest = { name: 'rest.md', title: 'The rest', content: 'größer', openerLength: 0, answerLength: 9_000 };
const turn = { id: 't', workspace: 'T1', channel: 'C1', thread_ts: '1.000000' };
const lease = {
  signal: new AbortController().signal,
  draining: new AbortController().signal,
  remainingMs: () => 8_000,
};

/**
 * Attaches the rest after an earlier process left this record, and where Slack has this status for its file. So many answers to
 * its intent are lost.
 */
async function attach(before: PostState | undefined, status: 'absent' | 'shared', lostAnswers = 0) {
  let left = lostAnswers;
  const steps: string[] = [];
  let bytes = '';
  const rows = new Map<string, Post>();
  const setRow = (part: string, state: PostState, key = 'F1') => {
    const post = { ...intendedPost(turn, part, key), state, intended_at: new Date(0) };
    rows.set(part, post);
    return post;
  };
  if (before !== undefined) setRow('rest', before);
  const posts = {
    ofTurn: async () => rows,
    intend: async (_: unknown, part: string, id: string) => {
      steps.push(`intend ${part} ${id}`);
      const row = setRow(part, 'intended', id);
      if (left === 0) return row;
      left -= 1;
      throw new StoreError('unavailable', 'the answer is lost');
    },
    record: async (_: unknown, posted: readonly PostOutcome[]) => {
      for (const { part } of posted) {
        steps.push(`${part} is posted`);
        setRow(part, 'posted');
      }
    },
    delete: async (_: unknown, part: string) => {
      steps.push(`${part} is absent`);
      rows.delete(part);
    },
  };
  const uploads = {
    shareOutcome: async () => status,
    stage: async (request: StagedFile) => {
      for await (const chunk of request.content) bytes += Buffer.from(chunk).toString('utf8');
      expect(request.sizeBytes).toBe(Buffer.byteLength(bytes));
      steps.push('stage');
      return { fileId: 'F2' };
    },
    share: async () => void steps.push('share'),
  };
  const work = {
    deps: { store: { posts }, log: silentLog },
    workspace: { uploads, wasThereAfter: async () => true, blocksLeftOutUntil: new Map() },
    lease,
  } as unknown as ThreadWork;
  const files = new ThreadFiles(work, turn);
  expect(await files.attach('rest', rest)).toBe(true);
  return { steps, bytes };
}

const wholeUpload = ['stage', 'intend rest F2', 'share', 'rest is posted'];

describe('the rest of an answer', () => {
  test('is uploaded whole first, and its id is recorded before people can see it', async () => {
    expect(await attach(undefined, 'absent')).toEqual({ steps: wholeUpload, bytes: 'größer' });
  });

  test('is not uploaded again where Slack shows it', async () => {
    expect((await attach('intended', 'shared')).steps).toEqual(['rest is posted']);
  });

  test('is uploaded again where Slack does not show it', async () => {
    expect((await attach('intended', 'absent')).steps).toEqual(['rest is absent', ...wholeUpload]);
  });

  test('is shared without a look for it where only the answer to its intent was lost', async () => {
    const { steps } = await attach(undefined, 'absent', 1);
    expect(steps).toEqual(['stage', 'intend rest F2', ...wholeUpload.slice(1)]);
  });

  test('is left alone once it is shared', async () => {
    expect((await attach('posted', 'absent')).steps).toEqual([]);
  });
});
