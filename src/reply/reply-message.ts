import { answerText, type ReplyBlock } from './answer.ts';
import { Draft, type Part, verbatimParts } from './draft.ts';
import { cutBytes } from './fallback.ts';
import { feedbackBlock } from './feedback.ts';
import { shorten } from './graphemes.ts';
import { overflow, type Rest } from './overflow.ts';
import { neutralise } from './pings.ts';
import { contextLine, doneLine, progressLine } from './progress.ts';
import {
  type ActionsBlock,
  plainText,
  type RenderedMessage,
  type SlackBlock,
  textLength,
} from './slack-blocks.ts';
import * as words from './words.ts';

/** Where a turn is, as far as people see it. */
export type ReplyPhase =
  | 'starting'
  | 'uploading'
  | 'queued'
  | 'working'
  | 'stopping'
  | 'done'
  | 'cancelled'
  | 'failed'
  | 'length'
  | 'background'
  | 'delayed';

/** All that a reply shows. */
export interface ShownReply {
  turnId: string;
  phase: ReplyPhase;
  blocks: readonly ReplyBlock[];
  elapsedMs: number;
  /** Lines on files and the like that stay below the answer. */
  notes: readonly string[];
  /** What to say in place of the phase's usual words: who stopped it, the error, how far an upload is. */
  sentence?: string | undefined;
  /** Characters at which the answer goes on in a new message, whatever room there is. */
  breaks?: readonly number[] | undefined;
  /** Says nothing of the agent's tool calls: only the time. */
  quiet?: boolean | undefined;
  /** Messages that the answer may take; the rest is for a file. */
  mostMessages: number;
  /** The message was refused for what was chosen: it can be chosen anew rather than tried again. */
  offer?: 'choose' | undefined;
}

/** All block text of one message (https://docs.slack.dev/reference/block-kit/blocks/markdown-block, with a margin). */
export const TEXT_MOST = 9_990;
export const BLOCKS_MOST = 50;
const NOTES_MOST = 2_500;
const SENTENCE_MOST = 2_000;

const SETTLED: ReadonlySet<ReplyPhase> = new Set(['done', 'cancelled', 'failed', 'length', 'background']);
/** The ends at which people may say what they think of the answer. */
const ANSWERED: ReadonlySet<ReplyPhase> = new Set(['done', 'length', 'background']);
const STOPPABLE: ReadonlySet<ReplyPhase> = new Set([
  'starting',
  'uploading',
  'queued',
  'working',
  'stopping',
  'delayed',
]);

const USUAL_WORDS: Record<ReplyPhase, string> = {
  starting: words.starting,
  uploading: words.uploading,
  queued: words.queued,
  working: words.working,
  stopping: words.stopping,
  done: '',
  cancelled: words.cancelled(''),
  failed: words.failed(''),
  length: words.lengthReached,
  background: words.background,
  delayed: words.busy,
};

/**
 * The messages of a reply: the answer's parts, and below the last one the notes, the progress line and the buttons
 * (`stop`, `continue`, `retry`, `choose_again`, `steps`; their value is the turn's id). `draft` saves work where the same reply is rendered
 * again; the messages are the same without it.
 */
export function renderReply(state: ShownReply, draft: Draft = new Draft()): RenderedMessage[] {
  const { parts, rest } = split(state, draft);
  const messages = parts.map(messageOf);
  const below = belowAnswer(state, parts.length > 0, rest);
  const line = cutBytes(sentenceOf(state) || doneLine(toolsOf(state), state.elapsedMs), 3_900);
  const last = messages.at(-1);
  const ended = last && { ...last, blocks: [...last.blocks, ...below] };
  if (ended && fits(ended.blocks)) messages[messages.length - 1] = ended;
  else if (below.length > 0) messages.push({ text: line, blocks: below });
  return messages;
}

const messagesOf = new WeakMap<Part, RenderedMessage>();

/** The message of a part: the same one for the same part, so that nobody has to look at it again. */
function messageOf(part: Part): RenderedMessage {
  const known = messagesOf.get(part);
  if (known) return known;
  const { text, blocks, pieces } = part;
  const [from, to] = part.source;
  const message = { text, blocks: [...blocks], source: { from, to, reopened: pieces[0]?.added === true } };
  messagesOf.set(part, message);
  return message;
}

/** What of the answer the reply's messages do not show; undefined where they show all. */
export function answerRest(state: ShownReply, draft: Draft = new Draft()): Rest | undefined {
  return split(state, draft).rest;
}

function split(state: ShownReply, draft: Draft): { parts: Part[]; rest: Rest | undefined } {
  const text = answerText(state.blocks);
  const most = state.mostMessages;
  const final = SETTLED.has(state.phase);
  try {
    return overflow(text, draft.parts(text, { final, most, breaks: state.breaks }), most);
  } catch (error) {
    // A live reply is tried again; at the end an answer without its Markdown is better than none.
    if (!final) throw error;
    return overflow(text, verbatimParts(text), most);
  }
}

function fits(blocks: readonly SlackBlock[]): boolean {
  // A Markdown block counts as many as Slack makes of it; the split left room for five of ours.
  return blocks.length <= BLOCKS_MOST && textLength(blocks) <= TEXT_MOST;
}

function belowAnswer(state: ShownReply, hasAnswer: boolean, rest: Rest | undefined): SlackBlock[] {
  const blocks: SlackBlock[] = [];
  const settled = SETTLED.has(state.phase);
  const said = shorten(sentenceOf(state), SENTENCE_MOST);
  const spoken = state.notes.filter((note) => /\S/.test(note));
  const notes = [
    ...spoken,
    ...(rest ? [settled ? words.restInFile : words.restComing(rest.answerLength)] : []),
  ];
  if (notes.length > 0) blocks.push(contextLine(fewNotes(notes)));
  if (settled) {
    const empty = state.phase === 'done' && !hasAnswer ? words.noAnswer : '';
    if (said !== '' || empty !== '')
      blocks.push({ type: 'section', text: plainText(neutralise(said || empty)) });
    blocks.push(contextLine(doneLine(toolsOf(state), state.elapsedMs)));
  } else if (state.phase === 'working' && state.sentence === undefined) {
    blocks.push(progressLine(toolsOf(state), { elapsedMs: state.elapsedMs, status: said }));
  } else {
    blocks.push(contextLine(said));
  }
  const actions = actionsFor(state);
  if (actions) blocks.push(actions);
  if (hasAnswer && ANSWERED.has(state.phase)) blocks.push(feedbackBlock(state.turnId));
  return blocks;
}

/** What is told of the agent's tool calls. */
function toolsOf(state: ShownReply): readonly ReplyBlock[] {
  return state.quiet === true ? [] : state.blocks;
}

function sentenceOf(state: ShownReply): string {
  return state.sentence ?? USUAL_WORDS[state.phase];
}

function fewNotes(notes: readonly string[]): string {
  let text = '';
  for (const [index, note] of notes.entries()) {
    const line = shorten(note.replace(/\s+/g, ' ').trim(), 600);
    if (text.length + line.length > NOTES_MOST) return `${text}\n${words.moreNotes(notes.length - index)}`;
    text += text === '' ? line : `\n${line}`;
  }
  return text;
}

type ReplyAction = 'stop' | 'continue' | 'retry' | 'choose_again' | 'steps';

function actionsFor(state: ShownReply): ActionsBlock | undefined {
  const actions: ReplyAction[] = [];
  if (state.phase === 'length') actions.push('continue');
  if (state.phase === 'failed' || state.phase === 'cancelled')
    actions.push(state.offer === 'choose' ? 'choose_again' : 'retry');
  if (STOPPABLE.has(state.phase)) actions.push('stop');
  if (SETTLED.has(state.phase) && toolsOf(state).some(({ kind }) => kind.startsWith('tool_')))
    actions.push('steps');
  if (actions.length === 0) return undefined;
  const elements = actions.map((action) => ({
    type: 'button' as const,
    action_id: action,
    text: plainText(words.buttons[labelOf(action, state.phase)]),
    value: state.turnId,
  }));
  return { type: 'actions', elements };
}

/** The words on a button, by their key. */
function labelOf(action: ReplyAction, phase: ReplyPhase): keyof typeof words.buttons {
  if (action === 'choose_again') return 'chooseAgain';
  return action === 'stop' && phase === 'stopping' ? 'stopNow' : action;
}
