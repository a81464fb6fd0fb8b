import { describe, expect, test } from 'vitest';
import { attachOverflow } from '../../../src/relay/replies/overflow-file.ts';
import type { StagedFile } from '../../../src/slack/file-uploads.ts';
import type { SlackFileState } from '../../../src/store/schema.ts';
import { silentLog } from '../../support/silent-log.ts';

const rest = { name: 'rest.md', title: 'The rest', content: 'größer', openerLength: 0, answerLength: 9_000 };
const turn = { id: 't', workspace: 'T1', channel: 'C1', root: '1.000000' };
const lease = {
  signal: new AbortController().signal,
  draining: new AbortController().signal,
  remainingMs: () => 8_000,
};

/** Shares the rest where an earlier process left this record and Slack knows this much of its file. */
async function shared(before: SlackFileState | undefined, whereabouts: 'absent' | 'completed' | 'shared') {
  const said: string[] = [];
  let bytes = '';
  const row = { ...turn, turn: 't', part: 'rest', slack_file: 'F1', intended_at: new Date(0) };
  const slackFiles = {
    ofTurn: async () => new Map(before === undefined ? [] : [['rest', { ...row, state: before }]]),
    begin: async (_: unknown, part: string, id: string) => void said.push(`begin ${part} ${id}`),
    setState: async (_: unknown, parts: readonly string[], state: string) =>
      void said.push(`${parts.join()} is ${state}`),
  };
  const uploads = {
    shareStatus: async () => whereabouts,
    stage: async (request: StagedFile) => {
      await request.onFileId('F2');
      for await (const chunk of request.content) bytes += Buffer.from(chunk).toString('utf8');
      expect(request.sizeBytes).toBe(Buffer.byteLength(bytes));
      return { fileId: 'F2' };
    },
    share: async () => void said.push('share'),
  };
  await attachOverflow({ slackFiles, uploads, log: silentLog }, turn, rest, lease);
  return { said, bytes };
}

describe('the rest of an answer', () => {
  test('is uploaded whole, and its id recorded before anybody can see it', async () => {
    expect(await shared(undefined, 'absent')).toEqual({
      said: ['begin rest F2', 'rest is sharing', 'share', 'rest is shared'],
      bytes: 'größer',
    });
  });

  test.each(['completed', 'shared'] as const)(
    'is not uploaded again where Slack has it as %s',
    async (where) => {
      expect((await shared('begun', where)).said).toEqual(['rest is shared']);
    },
  );

  test('is uploaded again where Slack never heard of its end', async () => {
    expect((await shared('begun', 'absent')).said).toEqual([
      'begin rest F2',
      'rest is sharing',
      'share',
      'rest is shared',
    ]);
  });

  test('is left alone once it is shared', async () => {
    expect((await shared('shared', 'absent')).said).toEqual([]);
  });
});
