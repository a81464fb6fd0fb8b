import type { ContentBlock } from '../../agent/content-blocks.ts';
import {
  actionsBlock,
  type ButtonId,
  buttonElement,
  contextLineBlock,
  fitsMessage,
  menuElement,
  messageOfBlocks,
  type RenderedMessage,
  type SlackBlock,
  sectionBlock,
  withLinesOf,
} from '../blocks/slack-blocks.ts';
import type { ParseCounter } from '../markdown/parse-markdown.ts';
import { neutralizePings, truncateBytes } from '../markdown/pings.ts';
import { type AnswerPart, AnswerSplitter, type SplitAnswer } from '../splitting/answer-splitter.ts';
import { openerOf } from '../splitting/segments.ts';
import * as strings from '../strings/index.ts';
import { shorten } from '../text-format.ts';
import { feedbackButtons } from './button-notes.ts';
import { sourceListMessage } from './checked-sources.ts';
import { figuresIn, type PlacedFigures, withFigures } from './figure-blocks.ts';
import { furtherSourceBlocks, searchSources, showsSources, sourceBlocks } from './sources.ts';
import {
  type AnswerState,
  ENDED_PHASES,
  mayHaveDataTables,
  partOptions,
  shownAnswer,
  splitReply,
} from './split-answer.ts';
import { blocksWithDataTable, searchTable } from './tables.ts';
import { doneLine, planBlock, progressLine } from './tool-steps.ts';

export interface DisplayedReply extends AnswerState {
  turnId: string;
  phase: ReplyPhase;
  elapsedMs: number;
  /** Stands above the answer, if several people ask: whom it answers. */
  askers?: string;
  /** Lines below the answer, such as those about files. */
  notes: readonly string[];
  /** Replaces the phase's default sentence: who stopped it, the error, the upload's progress. */
  sentence?: string | undefined;
  /** It may be a plan that waits for approval: offers to answer it. */
  asksApproval?: boolean | undefined;
  hideSteps?: boolean | undefined;
  /** A finished answer ends without a list of its sources. */
  hideSources?: boolean | undefined;
  /** The list of sources that registries know is a message of its own. */
  checksSources?: boolean | undefined;
  /** What stands below the answer is a message of its own. */
  isApart?: boolean | undefined;
  /** What its figures came to, once that is known. */
  figures?: PlacedFigures | undefined;
  /** The model of the task; null: the service's default. */
  model?: string | null | undefined;
  /** The service rejected the chosen options: offers to choose again instead of to try again. */
  offer?: 'choose' | undefined;
}

const MAX_NOTES_LENGTH = 2_500;
const MAX_SENTENCE_LENGTH = 2_000;
/** UTF-8 bytes of the line above a message, in its text. */
const MAX_HEADING_BYTES = 200;

const FEEDBACK_PHASES: ReadonlySet<ReplyPhase> = new Set(['done', 'length']);

/** The phase of a turn that people see. */
export type ReplyPhase = keyof typeof strings.phases;

/**
 * The messages of a reply: the answer's parts below whom it answers, and below the last one the notes, the progress line and the buttons
 * (`stop`, `continue`, `retry`, `choose_again`, `go_ahead`, `stop_here`, `steps`, and a menu with `ask_again`; their value is
 * the turn's id).
 * `splitter` saves work when the same reply is rendered again; the messages are the same without it.
 */
export function renderReply(
  state: DisplayedReply,
  splitter: AnswerSplitter = new AnswerSplitter(),
): RenderedMessage[] {
  const { askers = '', notes, isApart } = state;
  if (askers === '') return renderMessages(state, splitter);
  const [first, ...more] = renderMessages(state, splitter);
  const headed = first && isApart !== true ? withHeading(first, askers) : undefined;
  return headed ? [headed, ...more] : renderMessages({ ...state, notes: [askers, ...notes] }, splitter);
}

/** A message with a line above it; undefined if that does not fit. */
function withHeading(message: RenderedMessage, line: string): RenderedMessage | undefined {
  const blocks = [contextLineBlock(line), ...message.blocks];
  if (!fitsMessage(blocks)) return undefined;
  const { simpler } = message;
  const plain = simpler && withHeading(simpler.message, line);
  return {
    ...message,
    text: `${truncateBytes(line, MAX_HEADING_BYTES)}\n${message.text}`,
    blocks,
    ...(simpler && { simpler: { ...simpler, message: plain ?? simpler.message } }),
  };
}

function renderMessages(state: DisplayedReply, splitter: AnswerSplitter): RenderedMessage[] {
  const split = splitReply(state, splitter);
  const { parts } = split;
  const below = blocksBelowAnswer(state, split);
  if (state.isApart === true)
    return [...parts.map(messageOf), ...withPlan(state, messagesWith([], below), split)];
  const messages = messagesWith(parts, below);
  if (ENDED_PHASES.has(state.phase)) {
    const sortable = withDataTables(state, messages, split, splitter.parsed);
    const { figures } = state;
    if (figures === undefined) return sortable;
    return sortable.map((message, at) => withFigures(message, figuresIn(parts.slice(at, at + 1)), figures));
  }
  return withPlan(state, messages, split);
}

/** The parts with these blocks below the last one. */
function messagesWith(parts: readonly AnswerPart[], below: readonly SlackBlock[]): RenderedMessage[] {
  const messages = parts.map(messageOf);
  const last = messages.at(-1);
  const ended = last && { ...last, text: withLinesOf(last.text, below), blocks: [...last.blocks, ...below] };
  if (ended && fitsMessage(ended.blocks)) messages[messages.length - 1] = ended;
  else if (below.length > 0) messages.push(messageOfBlocks([...below], 'shift'));
  return messages;
}

/** The agent's steps above the text, instead of the line below it, while one message shows both. */
function withPlan(state: DisplayedReply, messages: RenderedMessage[], split: SplitAnswer): RenderedMessage[] {
  const [message] = messages;
  if (message === undefined || messages.length > 1 || state.newBlocks?.includes('plan') !== true)
    return messages;
  const status = state.phase === 'stopping' ? strings.phases.stopping : strings.phases.working;
  const options = { elapsedMs: state.elapsedMs, status };
  const shown = shownToolBlocks(state);
  const plan = planBlock(shown, options);
  if (plan === undefined) return messages;
  const below = blocksBelowAnswer(state, split, true);
  const part = state.isApart === true ? undefined : split.parts[0];
  const blocks = [plan, ...(part?.blocks ?? []), ...below];
  if (!fitsMessage(blocks)) return messages;
  return [{ ...message, blocks, simpler: { without: 'plan', message } }];
}

/** The long tables of a finished answer, one in each message, in a form that people can sort, filter and page through. */
function withDataTables(
  state: DisplayedReply,
  messages: RenderedMessage[],
  split: SplitAnswer,
  count: ParseCounter,
): RenderedMessage[] {
  if (!mayHaveDataTables(state)) return messages;
  const hasFile = shownAnswer(state).tables.length > 0;
  return messages.map((message, at) => {
    const part = split.parts[at];
    const next = split.parts[at + 1];
    // Whether the part ends inside a construct that the next one, or the file with the rest, reopens.
    const continues = next ? openerOf(next.segments) !== '' : (split.rest?.openerLength ?? 0) > 0;
    const blocks = part && blocksWithDataTable(part, { continues, hasFile, count });
    if (part === undefined || blocks === undefined) return message;
    const all = [...blocks, ...message.blocks.slice(part.blocks.length)];
    if (!fitsMessage(all)) return message;
    return { ...message, blocks: all, simpler: { without: 'data_table' as const, message } };
  });
}

const messageCache = new WeakMap<AnswerPart, RenderedMessage>();

/** The message of a part; the same object for the same part, so that callers can skip unchanged messages. */
function messageOf(part: AnswerPart): RenderedMessage {
  const known = messageCache.get(part);
  if (known) return known;
  const { text, blocks, segments, isClosed } = part;
  const [from, to] = part.source;
  const last = segments.at(-1);
  const shown = isClosed || last?.source !== '' ? segments : segments.slice(0, -1);
  const message = {
    text,
    blocks: [...blocks],
    markdown: shown.map((segment) => segment.text).join(''),
    source: { from, to, reopened: openerOf(segments) !== '' },
  };
  messageCache.set(part, message);
  return message;
}

/**
 * Renders one more message of the answer, its table or its sources, for callers that must not render a long answer at once;
 * false once everything was rendered.
 */
export function renderNextMessage(state: DisplayedReply, splitter: AnswerSplitter): boolean {
  const options = partOptions(state);
  try {
    if (splitter.closePart(shownAnswer(state).text, options)) return true;
    const { parts } = splitReply(state, splitter);
    if (mayHaveDataTables(state) && parts.some((part) => searchTable(part, splitter.parsed))) return true;
    return showsSources(state) && searchSources(state.blocks);
  } catch {
    // A live reply is rendered again later, and verbatim is the last resort: `renderReply` meets the same error.
    if (!options.final || splitter.isVerbatim) return false;
    splitter.showVerbatim();
    return true;
  }
}

function blocksBelowAnswer(
  state: DisplayedReply,
  { parts, rest }: SplitAnswer,
  hasPlan = false,
): SlackBlock[] {
  const hasAnswer = parts.length > 0;
  const listsSources = showsSources(state) && sourceListOf(state) === undefined;
  const blocks: SlackBlock[] = listsSources ? sourceBlocks(state.blocks) : [];
  const ended = ENDED_PHASES.has(state.phase);
  const sentence = shorten(state.sentence ?? strings.phases[state.phase], MAX_SENTENCE_LENGTH);
  const restNote = rest && (ended ? strings.restInFile : strings.answerContinues(rest.answerLength));
  const notes = [...state.notes, restNote ?? ''].filter((note) => /\S/.test(note));
  if (notes.length > 0) blocks.push(contextLineBlock(joinNotes(notes)));
  if (ended) {
    const empty = state.phase === 'done' && !hasAnswer ? strings.emptyAnswer : '';
    if (sentence !== '' || empty !== '') blocks.push(sectionBlock(neutralizePings(sentence || empty)));
    // A sentence in place of an answer, such as help or a refusal, took nobody's time.
    const isSentenceOnly = sentence !== '' && !hasAnswer && !hasSteps(state);
    if (!isSentenceOnly)
      blocks.push(contextLineBlock(doneLine(shownToolBlocks(state), state.elapsedMs, state.model)));
  } else if (state.phase === 'working' && state.sentence === undefined) {
    if (!hasPlan)
      blocks.push(contextLineBlock(progressLine(shownToolBlocks(state), { ...state, status: sentence })));
  } else {
    blocks.push(contextLineBlock(sentence));
  }
  const actions = actionButtons(state, hasAnswer);
  if (actions) blocks.push(actions);
  if (hasAnswer && FEEDBACK_PHASES.has(state.phase)) blocks.push(feedbackButtons(state.turnId));
  return blocks;
}

/** The list of a reply's sources, if it is a message of its own. */
export function sourceListOf(state: DisplayedReply): RenderedMessage | undefined {
  if (state.checksSources !== true || !showsSources(state)) return undefined;
  return sourceListMessage(state.turnId, state.blocks);
}

function shownToolBlocks(state: DisplayedReply): readonly ContentBlock[] {
  return state.hideSteps === true ? [] : state.blocks;
}

function hasSteps(state: DisplayedReply): boolean {
  return shownToolBlocks(state).some(({ kind }) => kind.startsWith('tool_'));
}

function joinNotes(notes: readonly string[]): string {
  let text = '';
  for (const [index, note] of notes.entries()) {
    const line = shorten(note.replace(/\s+/g, ' ').trim(), 600);
    if (text.length + line.length > MAX_NOTES_LENGTH)
      return `${text}\n${strings.moreNotes(notes.length - index)}`;
    text += text === '' ? line : `\n${line}`;
  }
  return text;
}

function actionButtons(state: DisplayedReply, hasAnswer: boolean): SlackBlock | undefined {
  const actions: ButtonId[] = [];
  const isAnswered = state.phase === 'working' || state.phase === 'done';
  if (state.asksApproval === true && isAnswered && hasAnswer) actions.push('go_ahead', 'stop_here');
  if (state.phase === 'length') actions.push('continue');
  if (state.phase === 'failed' || state.phase === 'cancelled')
    actions.push(state.offer === 'choose' ? 'choose_again' : 'retry');
  if (!ENDED_PHASES.has(state.phase)) actions.push('stop');
  const hasFurtherSources = showsSources(state) && furtherSourceBlocks(state.blocks).length > 0;
  if (ENDED_PHASES.has(state.phase) && (hasSteps(state) || hasFurtherSources)) actions.push('steps');
  const hasMenu = hasAnswer && FEEDBACK_PHASES.has(state.phase);
  if (actions.length === 0 && !hasMenu) return undefined;
  const stopLabel = state.phase === 'stopping' ? strings.labels.stopNow : undefined;
  const buttons = actions.map((action) =>
    buttonElement(action, state.turnId, action === 'stop' ? stopLabel : undefined),
  );
  return actionsBlock([
    ...buttons,
    ...(hasMenu ? [menuElement(['ask_again', 'save_record'], state.turnId)] : []),
  ]);
}
