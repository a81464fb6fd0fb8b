import { isDeepStrictEqual } from 'node:util';
import { databaseNow } from '../../calls/clocks.ts';
import { NEW_BLOCKS, type RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import {
  type FileProgress,
  fileNoteLines,
  fileProgressLines,
  fileProgressSentence,
} from '../../render/messages/file-lines.ts';
import {
  type DisplayedReply,
  type ReplyPhase,
  renderNextMessage,
  renderReply,
  sourceListOf,
} from '../../render/messages/reply-message.ts';
import { figurePaths, shownAnswer, splitReply } from '../../render/messages/split-answer.ts';
import { type AnswerRest, AnswerSplitter } from '../../render/splitting/answer-splitter.ts';
import { breakPoint } from '../../render/splitting/cut-point.ts';
import type { FileLimits } from '../../render/strings/file-transfer.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Turn, TurnOutcome } from '../../store/schema.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import type { WaitCause } from '../runtime/retry-and-giving-up.ts';
import type { ReadReply } from './reply-blocks.ts';
import {
  type AnswerProgress,
  endsWithQuestion,
  SilenceDetector,
  type SilenceLimits,
} from './silence-and-questions.ts';

/** While nothing else changes, the times in the reply are updated this often (ms), or once they are late by this share. */
const CLOCK_REFRESH_MS = 30_000;
const CLOCK_REFRESH_SHARE = 1 / 60; // Else a few dozen runs of hours would take all edits of a workspace.

/** The phase of a reply that ends before it has settled; others have failed. */
const END_PHASES: Partial<Record<TurnOutcome, ReplyPhase>> = {
  helped: 'done',
  kept: 'done',
  cancelled: 'cancelled',
};

/** The phases of a reply that is being written, by its status; others are `working`. */
const LIVE_PHASES: Readonly<Record<string, ReplyPhase>> = { pending: 'queued', cancelling: 'stopping' };

/** What the steps of a turn know of its reply, beside what stands in it as it is. */
interface ReplyKnowledge
  extends Omit<DisplayedReply, 'turnId' | 'elapsedMs' | 'asksApproval' | 'newBlocks' | 'isApart' | 'breaks'> {
  /** The reply has settled, or its turn has ended before. */
  isOver: boolean;
  /** What a step waits for. */
  waitCause: WaitCause | undefined;
  /** Shown from a stop request until the end. */
  stopSentence?: string | undefined;
  /** What became of the message's files. */
  fileNotes: readonly FileNote[];
  /** What became of the files of messages that were passed on to the run; undefined before the first. */
  passedOnFileNotes?: readonly FileNote[];
  /** One line for each file, while the message's files are uploaded. */
  uploadLines: readonly string[];
  /** Names the channel's instructions that the message quotes. */
  instructions: string;
  /** The task was begun with a plan: people may approve it with a button, unless somebody has. */
  plansFirst: boolean;
  /** Says who answered the plan with a button, and how. */
  buttonUse: string | undefined;
  breaks: readonly number[];
  /** The status below the answer is a message of its own until the reply is over. */
  isApart: boolean;
}

/** What a turn's reply shows, gathered from the turn's steps; `onChange` is called when it changes. */
export class ReplyState {
  readonly #turnId: string;
  readonly #startedAt: number;
  readonly #limits: FileLimits;
  readonly #onChange: () => void;
  readonly #splitter = new AnswerSplitter();
  readonly silence = new SilenceDetector();
  #known: ReplyKnowledge;
  #elapsedMs = 0;
  /** Says that the agent is silent, as of `#elapsedMs`. */
  #silenceSentence: string | undefined;
  /** The length of the answer when the run was last given another message. */
  #lengthWhenPassedOn: number | undefined;
  /** An earlier process may have shown more of the reply than is known here before the first read. */
  #awaitsFirstRead: boolean;

  constructor(turn: Turn, settings: FileLimits & { maxReplyMessages: number }, onChange: () => void) {
    this.#turnId = turn.id;
    this.#awaitsFirstRead = isAtService(turn);
    this.#startedAt = turn.started_at.getTime();
    this.#limits = settings;
    this.#onChange = onChange;
    this.#known = {
      phase: 'starting',
      sentence: undefined,
      ...{ blocks: [], notes: [], fileNotes: [], uploadLines: [] },
      ...{ isOver: false, isApart: false, plansFirst: false, hideSteps: false, hideSources: false },
      maxMessages: settings.maxReplyMessages,
      waitCause: undefined,
      instructions: '',
      buttonUse: undefined,
      breaks: turn.split_offsets,
    };
  }

  get known(): Readonly<ReplyKnowledge> {
    return this.#known;
  }

  /** Whether the status is a message of its own now. */
  get isApart(): boolean {
    return this.#known.isApart && !this.#known.isOver;
  }

  /** Whether the reply is a plan that no button and, until the run ends, no passed-on message has answered. */
  get isOpenPlan(): boolean {
    const { plansFirst, buttonUse, isOver } = this.#known;
    return plansFirst && buttonUse === undefined && (isOver || !this.#wasPassedMessage);
  }

  /** Whether a finished answer asks what no button can answer, and no passed-on message may have answered. */
  get endsWithQuestion(): boolean {
    const { isOver, phase, plansFirst, blocks } = this.#known;
    return isOver && phase === 'done' && !plansFirst && !this.#wasPassedMessage && endsWithQuestion(blocks);
  }

  /** Whether a message was passed on to the run that writes this reply. */
  get #wasPassedMessage(): boolean {
    return this.#known.passedOnFileNotes !== undefined;
  }

  /** Has the answer name its figures in words, because the thread has them below it. */
  showFiguresBelow(): void {
    const paths = [...(this.#known.figures?.keys() ?? [])];
    this.update({ figures: new Map(paths.map((path) => [path, null])) });
  }

  /** Whether the reply has grown since its run was given a later message, which stands below it. */
  get hasGrownAboveMessage(): boolean {
    return this.#lengthWhenPassedOn !== undefined && this.answer.length > this.#lengthWhenPassedOn;
  }

  /** The answer's text as far as it is known. */
  get answer(): string {
    return shownAnswer(this.#known).text;
  }

  /** Shows what a step has learned, if that is new. */
  update(values: Partial<ReplyKnowledge>): void {
    const before = this.#known;
    this.#known = { ...before, ...values };
    if (!isDeepStrictEqual(before, this.#known)) this.#notifyChanged();
  }

  /** Sets what became of the files, in place of their progress. A file that went as it is causes no edit of its own. */
  setFileNotes(fileNotes: readonly FileNote[]): void {
    const hasNews = fileNotes.some(({ reason, remark }) => reason !== null || remark !== undefined);
    if (hasNews) this.update({ fileNotes, uploadLines: [] });
    else this.#known = { ...this.#known, fileNotes, uploadLines: [] };
  }

  setUploadProgress(files: readonly FileProgress[]): void {
    const uploadLines = fileProgressLines(files, this.#limits);
    if (isDeepStrictEqual(uploadLines, this.#known.uploadLines)) return;
    this.update({ uploadLines, phase: 'uploading', sentence: fileProgressSentence(files) });
  }

  /** Shows what was read of the reply. If the agent is silent, says what it may be waiting for. */
  onRead(reply: ReadReply, limits: SilenceLimits): void {
    this.#awaitsFirstRead = false;
    const change = this.silence.onRead(reply, limits);
    const refreshMs = Math.max(CLOCK_REFRESH_MS, this.#elapsedMs * CLOCK_REFRESH_SHARE);
    const isClockDue = databaseNow() - this.#startedAt - this.#elapsedMs > refreshMs;
    if (change === 'same' && !isClockDue) return;
    // A silence takes the place of what was said before it, and not of what is said later.
    if (change !== 'same') this.#known = { ...this.#known, sentence: undefined };
    if (change === 'changed') {
      const phase = LIVE_PHASES[reply.status ?? ''] ?? 'working';
      this.#known = { ...this.#known, blocks: reply.blocks, phase };
      this.#splitter.recordGrowth(this.answer);
    }
    this.#notifyChanged();
  }

  get progress(): AnswerProgress {
    return { length: this.answer.length, fingerprint: this.silence.fingerprint };
  }

  /** A message was passed on to the silent agent. `before`: the answer just before the call that sent it. */
  onPassedOn(writer: string, notes: readonly FileNote[], before: AnswerProgress): void {
    this.silence.onPassedOn(before.fingerprint);
    this.#lengthWhenPassedOn = before.length;
    const { passedOnFileNotes: earlier = [] } = this.#known;
    this.update({ passedOnFileNotes: [...earlier, ...notes], sentence: strings.messagePassedOn(writer) });
  }

  /** A person asked to stop the turn; `name` is '' if it is unknown. */
  onStopRequested(name: string): void {
    if (!this.#known.isOver) this.update({ stopSentence: strings.stoppingFor(name) });
  }

  /** The reply has settled in this phase. `notes` go below it; `stoppedBy` is the person's name, or '' if unknown. */
  settle(reply: ReadReply, phase: ReplyPhase, notes: readonly string[], stoppedBy: string): void {
    const failure = phase === 'failed' ? strings.agentFailed(reply.error ?? '') : undefined;
    const sentence = phase === 'cancelled' ? strings.stopped(stoppedBy) : failure;
    this.#end({ blocks: reply.blocks, notes, phase, sentence });
  }

  /** The turn ends before its reply has settled. The files of its figures never come: words name them. */
  endEarly(outcome: TurnOutcome, sentence: string, offer?: 'choose'): void {
    this.#end({ offer, phase: END_PHASES[outcome] ?? 'failed', sentence, figures: new Map() });
  }

  /** The reply's messages as they should be now. */
  render(): RenderedMessage[] {
    return renderReply(this.#toShownReply(), this.#splitter);
  }

  /** Renders one more message of the answer, for `render` to find; false once all are rendered. */
  renderNext(): boolean {
    return renderNextMessage(this.#toShownReply(), this.#splitter);
  }

  /**
   * The last offset (characters) after `from`, and at most at `to`, at which the answer can continue in a new
   * message; `from` if there is none. `from` must not be inside a block.
   */
  breakPoint(from: number, to: number): number {
    return breakPoint(this.answer, from, to, this.#splitter.parsed);
  }

  /** Frees what was rendered last: it is not needed again soon. */
  discardRendered(): void {
    this.#splitter.dropCache();
  }

  /** The part of the answer that the messages do not show; undefined if they show all. */
  overflow(): AnswerRest | undefined {
    return splitReply(this.#toShownReply(), this.#splitter).rest;
  }

  /** The tables of the answer that are too wide or too long for Slack, as CSV. */
  largeTables(): readonly string[] {
    return shownAnswer(this.#toShownReply()).tables;
  }

  /** The list of the finished answer's sources, if it is a message of its own. */
  sourceList(): RenderedMessage | undefined {
    return sourceListOf(this.#toShownReply());
  }

  /** The paths of the figures that the finished answer shows. */
  figurePaths(): string[] {
    return figurePaths(this.#toShownReply(), this.#splitter);
  }

  /** The reply as it is shown. During a wait or a stop, sentences about these replace the agent's phase. */
  #toShownReply(): DisplayedReply {
    const { waitCause, stopSentence, instructions, notes, buttonUse, isOver, ...known } = this.#known;
    const waitSentence = waitCause && strings.waits[waitCause];
    const phaseWithoutStop = waitSentence === undefined ? known.phase : 'delayed';
    // After a stop request, the message does not go on by itself.
    const waitEnds = stopSentence === undefined ? waitCause && strings.waitEnds : undefined;
    const urgent = [stopSentence, waitSentence, waitEnds].filter((one) => one !== undefined).join(' ');
    const question = this.endsWithQuestion ? strings.answerAsks : '';
    // Beside a streamed answer, the clock alone is worth an edit only now and then.
    const clockStepMs = this.isApart && known.blocks.length > 0 ? CLOCK_REFRESH_MS : 1;
    return {
      ...known,
      turnId: this.#turnId,
      phase: stopSentence === undefined ? phaseWithoutStop : 'stopping',
      elapsedMs: this.#elapsedMs - (this.#elapsedMs % clockStepMs),
      isApart: this.isApart,
      notes: [instructions, ...this.#fileLines(), ...notes, buttonUse ?? '', question],
      asksApproval: this.isOpenPlan && (isOver || this.silence.isWaiting),
      sentence: urgent === '' ? (known.sentence ?? this.#silenceSentence) : urgent,
      newBlocks: NEW_BLOCKS,
    };
  }

  #end(values: Partial<ReplyKnowledge>): void {
    this.#known = { ...this.#known, ...values, isOver: true, stopSentence: undefined, waitCause: undefined };
    this.#notifyChanged();
  }

  #fileLines(): readonly string[] {
    const { uploadLines, fileNotes, passedOnFileNotes = [] } = this.#known;
    if (uploadLines.length > 0) return uploadLines;
    return fileNoteLines([...fileNotes, ...passedOnFileNotes], this.#limits);
  }

  /** Has the change shown, unless an earlier process may have shown more than is known here. */
  #notifyChanged(): void {
    if (this.#known.isOver) this.#awaitsFirstRead = false;
    this.#elapsedMs = databaseNow() - this.#startedAt;
    this.#silenceSentence = this.#known.isOver ? undefined : this.silence.sentence;
    if (!this.#awaitsFirstRead) this.#onChange();
  }
}
