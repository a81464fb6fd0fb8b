import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { blockTextLength, type RenderedMessage } from '../../../src/render/blocks/slack-blocks.ts';
import { type ReplyPhase, renderReply } from '../../../src/render/messages/reply-message.ts';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

const words = fc.oneof(
  fc.string({ maxLength: 200, unit: 'grapheme' }),
  fc.constantFrom(
    '',
    'BRCA1',
    '<!channel> @here',
    'Error: no',
    '{"url": "https://a.example/1"}',
    'https://b.example/a_b?c=d&e=(f)',
    '[a paper](https://www.nature.com/a_b?c=d&e=(f)), doi:10.1016/S0140-6736(20)30183-5, PMID 31978945',
  ),
);

const step = fc.record({
  name: words,
  input: fc.dictionary(fc.constantFrom('query', 'code'), words),
  output: words,
});

const cell = fc.oneof(
  fc.float({ noNaN: true }).map(String),
  fc.constantFrom(
    '',
    '**p** < 0.05',
    '[x](https://a.example)',
    '`a|b`',
    '1,204',
    '−2e-9',
    '![i](https://a.example/i.png)',
    'a\\|b',
  ),
  fc.string({ maxLength: 20 }).map((text) => text.replace(/[|\n\\`]/g, ' ')),
);

/** Columns and rows, at and around the limits. */
const sizes = fc.constantFrom(
  [1, 0],
  [1, 2],
  [2, 5],
  [3, 1],
  [2, 10],
  [3, 11],
  [5, 11],
  [4, 14],
  [2, 100],
  [1, 101],
  [20, 11],
  [21, 3],
  [24, 12],
);

const table = fc
  .record({ size: sizes, seed: fc.array(cell, { minLength: 7, maxLength: 7 }) })
  .map(({ size: [columns = 1, rows = 0], seed }) => {
    const line = (row: number) =>
      `| ${Array.from({ length: columns }, (_, at) => seed[(row + at) % seed.length]).join(' | ')} |`;
    const body = Array.from({ length: rows }, (_, row) => line(row + 1));
    return [line(0), `|${' --- |'.repeat(columns)}`, ...body].join('\n');
  });

/** A run in its order: texts, tables, and steps of which the last may still run. */
const run = fc
  .array(fc.oneof(step, step, table, markdownArbitrary(), words), { minLength: 1, maxLength: 7 })
  .map((parts) =>
    parts.flatMap((part, at): ContentBlock[] => {
      if (typeof part === 'string') return [{ kind: 'text', text: `${part}\n\n` }];
      const id = `${at}`;
      const called = { kind: 'tool_use' as const, id, name: part.name, input: part.input };
      const result = { kind: 'tool_result' as const, toolUseId: id, content: part.output };
      return at === parts.length - 1 ? [called] : [called, result];
    }),
  );

function check({ blocks, text }: RenderedMessage): void {
  expect(checkBlocks(blocks, 'message').length).toBeGreaterThan(0);
  expect(Buffer.byteLength(text)).toBeLessThan(4_000);
  expect(text.trim()).not.toBe('');
  expect(blockTextLength(blocks)).toBeLessThanOrEqual(10_000);
}

test('Slack accepts every message of 30 random runs, while they grow and at their end, with the new blocks or without', () => {
  const seen = { plan: 0, data_table: 0, image: 0 };
  const live = fc.constantFrom<ReplyPhase>(
    'starting',
    'uploading',
    'queued',
    'working',
    'stopping',
    'delayed',
  );
  const end = fc.constantFrom<ReplyPhase>('done', 'failed', 'cancelled', 'length');
  const someNotes = fc.array(fc.string({ maxLength: 300 }), { maxLength: 5 });
  fc.assert(
    fc.property(run, live, end, someNotes, (blocks, livePhase, endPhase, notes) => {
      const splitter = new AnswerSplitter();
      for (const phase of [livePhase, endPhase]) {
        const shown = phase === endPhase ? blocks : blocks.slice(0, -1);
        const state = { turnId, phase, blocks: shown, elapsedMs: 65_000, notes, maxMessages: 2 };
        for (const message of renderReply({ ...state, newBlocks: ['plan', 'data_table'] }, splitter)) {
          check(message);
          if (message.simpler === undefined) continue;
          seen[message.simpler.without] += 1;
          check(message.simpler.message);
        }
      }
    }),
    { numRuns: 30 },
  );
  expect(Math.min(seen.plan, seen.data_table)).toBeGreaterThan(2);
});
