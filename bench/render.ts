import type { ContentBlock } from '../src/agent/content-blocks.ts';
import { messageDigest } from '../src/relay/replies/fallback-forms.ts';
import { type ReplyPhase, renderReply } from '../src/render/messages/reply-message.ts';
import { AnswerSplitter } from '../src/render/splitting/answer-splitter.ts';
import { markdownAnswer } from './markdown-answer.ts';
import { percentile } from './statistics.ts';

const CHARACTERS = 100_000;
const EDITS = 200;
const ROUNDS = 9;

const answer = markdownAnswer(CHARACTERS);

/** Does what a live reply does for an edit: renders, and digests each message to find the changed ones. */
function show(length: number, phase: ReplyPhase, splitter: AnswerSplitter): number {
  const blocks: ContentBlock[] = [
    { kind: 'tool_use', id: 't1', name: 'run_python', input: { code: 'print(1)' } },
    { kind: 'tool_result', toolUseId: 't1', content: '1' },
    { kind: 'text', text: answer.slice(0, length) },
  ];
  const state = { turnId: 'bench', phase, blocks, elapsedMs: 65_000, notes: [], maxMessages: 12 };
  let messages = 0;
  // A live reply renders three times: to find stale messages, when the edit may be sent, and to see what is left.
  for (let look = 0; look < 3; look += 1) {
    messages = new Set(renderReply(state, splitter).map(messageDigest)).size;
  }
  return messages;
}

/** The time (ms) to show an answer that grows in `edits` equal steps. */
function timed(edits: number): number {
  const splitter = new AnswerSplitter();
  const began = performance.now();
  for (let edit = 1; edit < edits; edit += 1) {
    show(Math.floor((CHARACTERS / edits) * edit), 'working', splitter);
  }
  show(CHARACTERS, 'done', splitter);
  return performance.now() - began;
}

/** Measures how fast answers render, and how much more it costs to show one that grows. The last line is JSON. */
export async function run(): Promise<void> {
  timed(1);
  timed(EDITS);
  const once: number[] = [];
  const grown: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    once.push(timed(1));
    grown.push(timed(EDITS));
  }
  const onceMs = percentile(once, 0.5);
  const grownMs = percentile(grown, 0.5);
  console.log(`${CHARACTERS} characters of Markdown, rendered and digested as for Slack`);
  console.log(`  at once             ${onceMs.toFixed(1)} ms`);
  console.log(
    `  growing, ${EDITS} edits  ${grownMs.toFixed(1)} ms, ${(grownMs / EDITS).toFixed(2)} ms per edit`,
  );
  console.log(
    JSON.stringify({
      bench: 'render',
      charsPerSecond: Math.round((CHARACTERS / onceMs) * 1_000),
      growthRatio: Math.round((grownMs / onceMs) * 100) / 100,
    }),
  );
}
