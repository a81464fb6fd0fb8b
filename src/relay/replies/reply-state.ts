import type { NewBlock, RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { answerText, type ReplyBlock } from '../../render/messages/answer-text.ts';
import {
  type FileProgress,
  fileProgressLines,
  fileProgressSentence,
  missingFileLines,
} from '../../render/messages/file-lines.ts';
import {
  answerOverflow,
  type DisplayedReply,
  type ReplyPhase,
  renderNextMessage,
  renderReply,
  wideTables,
} from '../../render/messages/reply-message.ts';
import { AnswerSplitter } from '../../render/splitting/answer-splitter.ts';
import { breakPoint } from '../../render/splitting/break-point.ts';
import type { AnswerRest } from '../../render/splitting/overflow.ts';
import type { FileLimits } from '../../render/strings/file-transfer.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Turn, TurnOutcome } from '../../store/schema.ts';
import type { WaitCause } from '../runtime/retry.ts';
import type { ReadReply } from './reply-blocks.ts';
import { END_PHASES, phaseOf, WAIT_SENTENCES } from './reply-phases.ts';
import { SilenceDetector, type SilenceLimits, silenceBefore, waitsFor } from './silence-detector.ts';

/** While nothing else changes, the reply's elapsed time is updated this often (ms). */
const CLOCK_REFRESH_MS = 30_000;

/** What a turn's reply shows, gathered from the turn's steps; `onChange` is called when it changes. */
export class ReplyState {
  readonly #turnId: string;
  readonly #startedAt: number;
  readonly #limits: FileLimits;
  readonly #newBlocks: readonly NewBlock[];
  readonly #onChange: () => void;
  readonly #splitter = new AnswerSplitter();
  #maxMessages: number;
  #phase: ReplyPhase = 'starting';
  #sentence: string | undefined;
  #waitCause: WaitCause | undefined;
  #isOver = false;
  /** Shown from a stop request until the end. */
  #stopSentence: string | undefined;
  #fileNotes: readonly FileNote[] = [];
  #forwardedFileNotes: readonly FileNote[] = [];
  #notes: readonly string[] = [];
  #blocks: readonly ReplyBlock[] = [];
  #lastFingerprint = '';
  readonly #silence = new SilenceDetector();
  #breaks: readonly number[];
  /** One line for each file, while files are passed on. */
  #uploadLines: readonly string[] = [];
  /** The service has the message. */
  #isDelivered = false;
  #elapsedMs = 0;
  #offer: 'choose' | undefined;
  #hidesSteps = false;
  #plansFirst = false;
  /** Says whose questions the reply answers, where several people ask. */
  #askers = '';
  /** Says who answered the plan with a button, and how. */
  #buttonUse: string | undefined;
  #hasWideTables = false;
  #isApart = false;
  /** The run has read an answer of people, so that only typed ones follow. */
  #hasForwarded = false;
  /** Before the first read, an earlier process may have shown more of the answer than is known here. */
  #isUnread: boolean;

  constructor(
    turn: Turn,
    settings: { fileLimits: FileLimits; maxReplyMessages: number; newBlocks: readonly NewBlock[] },
    onChange: () => void,
  ) {
    this.#turnId = turn.id;
    this.#isUnread = turn.user_message_id !== null;
    this.#breaks = turn.split_offsets;
    this.#startedAt = turn.started_at.getTime();
    this.#limits = settings.fileLimits;
    this.#maxMessages = settings.maxReplyMessages;
    this.#newBlocks = settings.newBlocks;
    this.#onChange = onChange;
  }

  /** Whether there is no answer yet. */
  get isBlank(): boolean {
    return this.#blocks.length === 0;
  }

  /**
   * Names the pause in which the agent may read another message: a silence; a question, at once; or `passOnMs` without
   * anything new. Undefined while it writes or a tool works.
   */
  pauseAfter(passOnMs: number): string | undefined {
    if (this.#phase !== 'working') return undefined;
    if (this.#silence.current !== undefined) return `silence ${this.#silence.current}`;
    const waiting = waitsFor(this.#blocks);
    if (waiting === 'question') return `question ${this.#lastFingerprint}`;
    const isQuiet = waiting === undefined && this.#silence.quietMs > passOnMs;
    return isQuiet ? `pause ${this.#lastFingerprint}` : undefined;
  }

  /** The turn's next step. */
  setStep(phase: ReplyPhase, sentence?: string): void {
    if (this.#phase === phase && this.#sentence === sentence) return;
    this.#phase = phase;
    this.#sentence = sentence;
    this.#notifyChanged();
  }

  /** Shows the elapsed time alone, without the agent's steps, as the channel's settings ask. */
  hideSteps(): void {
    this.#hidesSteps = true;
  }

  /** What stands below the answer becomes a message of its own until the reply is over. */
  setApart(): void {
    this.#isApart = true;
  }

  get isApart(): boolean {
    return this.#isApart && !this.#isOver;
  }

  /** The task was begun with a plan: people may approve it with a button, unless somebody has. */
  offerApproval(buttonUse: string | undefined): void {
    this.#plansFirst = true;
    if (buttonUse === this.#buttonUse) return;
    this.#buttonUse = buttonUse;
    this.#notifyChanged();
  }

  /** Names the people whose questions the reply answers. */
  setAskers(names: readonly string[]): void {
    const line = strings.inAnswerTo(names);
    if (line === this.#askers) return;
    this.#askers = line;
    this.#notifyChanged();
  }

  get offersApproval(): boolean {
    return this.#plansFirst;
  }

  /** Sets what became of the message's files. */
  setFileNotes(notes: readonly FileNote[]): void {
    if (notes === this.#fileNotes) return;
    this.#fileNotes = notes;
    this.#uploadLines = [];
    if (notes.some((note) => note.reason !== null)) this.#notifyChanged();
  }

  /** Shows how far the uploads of the message's files are. */
  setUploadProgress(files: readonly FileProgress[]): void {
    const lines = fileProgressLines(files, this.#limits);
    if (lines.join('\n') === this.#uploadLines.join('\n')) return;
    this.#uploadLines = lines;
    this.#phase = 'uploading';
    this.#sentence = fileProgressSentence(files);
    this.#notifyChanged();
  }

  /** Shows what a step waits for; undefined when it continues. */
  setWaitCause(cause: WaitCause | undefined): void {
    if (this.#waitCause === cause) return;
    this.#waitCause = cause;
    this.#notifyChanged();
  }

  /** The agent's reply was read. After a time without a new fingerprint, the thread says once what the agent may wait for. */
  onRead(reply: ReadReply, limits: SilenceLimits): void {
    const { fingerprint } = reply;
    this.#isDelivered = true;
    this.#isUnread = false;
    if (fingerprint !== this.#lastFingerprint) {
      this.#lastFingerprint = fingerprint;
      this.#silence.reset();
      this.#blocks = reply.blocks;
      this.#splitter.recordGrowth(this.answer);
      this.#phase = phaseOf(reply);
      this.#sentence = undefined;
      this.#notifyChanged();
      return;
    }
    const waiting = waitsFor(this.#blocks);
    const silentMs = silenceBefore(waiting, limits);
    if (this.#phase === 'working' && this.#silence.begins(silentMs)) {
      this.#sentence = waiting === 'question' ? strings.agentAsks : strings.agentSilent(silentMs);
      this.#notifyChanged();
    } else if (Date.now() - this.#startedAt - this.#elapsedMs > CLOCK_REFRESH_MS) {
      this.#notifyChanged();
    }
  }

  /** A message was forwarded to the silent agent, whose silence starts over. */
  onForwarded(writer: string, notes: readonly FileNote[]): void {
    this.#hasForwarded = true;
    this.#forwardedFileNotes = [...this.#forwardedFileNotes, ...notes];
    this.#silence.reset();
    this.#sentence = strings.messagePassedOn(writer);
    this.#notifyChanged();
  }

  /** A person asked to stop the turn; `name` is '' if it is unknown. */
  onStopRequested(name: string): void {
    if (this.#isOver) return;
    this.#stopSentence = strings.stoppingFor(name);
    this.#notifyChanged();
  }

  /** A message could not be forwarded: the service accepts none while the agent works. */
  onRequeued(): void {
    this.#sentence = strings.messageWaits;
    this.#notifyChanged();
  }

  /** The reply has settled. */
  settle(reply: ReadReply, phase: ReplyPhase, notes: readonly string[], stoppedBy: string): void {
    this.#blocks = reply.blocks;
    this.#notes = notes;
    if (phase === 'cancelled') this.#end(phase, strings.stopped(stoppedBy));
    else this.#end(phase, phase === 'failed' ? strings.agentFailed(reply.error ?? '') : undefined);
  }

  /** The turn ends before its reply has settled. */
  endEarly(outcome: TurnOutcome, sentence: string, offer?: 'choose'): void {
    this.#offer = offer;
    this.#end(END_PHASES[outcome] ?? 'failed', sentence);
  }

  /** The current answer. */
  get answer(): string {
    return answerText(this.#blocks);
  }

  /** The places (characters) at which the answer continues in a new message, with one more. */
  breaksWith(place: number): number[] {
    return [...this.#breaks, place].sort((a, b) => a - b);
  }

  /** The answer continues in new messages at these places (characters). */
  setBreaks(places: readonly number[]): void {
    this.#breaks = places;
    this.#notifyChanged();
  }

  render(): RenderedMessage[] {
    return renderReply(this.#toShownReply(), this.#splitter);
  }

  /** Renders one more message of the answer; returns false once `render` takes no long time. */
  renderNext(): boolean {
    return renderNextMessage(this.#toShownReply(), this.#splitter);
  }

  /** Where the answer can continue in a new message: after `from`, and at most at `to` (characters). */
  breakPoint(from: number, to: number): number {
    return breakPoint(this.answer, from, to, this.#splitter.parsed);
  }

  /** Frees what was rendered last: it is not needed again soon. */
  discardRendered(): void {
    this.#splitter.dropCache();
  }

  /** The part of the answer that the messages do not show. */
  overflow(): AnswerRest | undefined {
    return answerOverflow(this.#toShownReply(), this.#splitter);
  }

  /** The tables of the answer that are too wide for Slack, as CSV. */
  wideTables(): string[] {
    return wideTables(this.#toShownReply(), this.#splitter);
  }

  /** Files in the thread have these tables: the messages show their first columns. */
  onWideTablesAttached(): void {
    this.#hasWideTables = true;
    this.#notifyChanged();
  }

  /** Lets the answer take as many messages as it needs, where its rest cannot be attached. */
  showAll(): void {
    this.#maxMessages = Number.POSITIVE_INFINITY;
    this.#notifyChanged();
  }

  #toShownReply(): DisplayedReply {
    const waitSentence = this.#waitCause && WAIT_SENTENCES[this.#waitCause];
    const phase = waitSentence === undefined ? this.#phase : 'delayed';
    const urgent = [this.#stopSentence, waitSentence].filter((one) => one !== undefined).join(' ');
    const sentence = urgent === '' ? this.#sentence : urgent;
    return {
      turnId: this.#turnId,
      phase: this.#stopSentence === undefined ? phase : 'stopping',
      blocks: this.#blocks,
      breaks: this.#breaks,
      elapsedMs: this.#elapsedMs - (this.#elapsedMs % (this.isApart && !this.isBlank ? CLOCK_REFRESH_MS : 1)),
      isApart: this.isApart,
      notes: [this.#askers, ...this.#fileLines(), ...this.#notes, this.#buttonUse ?? ''],
      hideSteps: this.#hidesSteps,
      asksApproval: this.#plansFirst && this.#buttonUse === undefined && (this.#isOver || this.#isWaiting),
      sentence,
      maxMessages: this.#maxMessages,
      newBlocks: this.#newBlocks,
      hasWideTables: this.#hasWideTables,
      offer: this.#offer,
    };
  }

  /** Whether the run waits for its first answer. */
  get #isWaiting(): boolean {
    if (this.#hasForwarded) return false;
    return this.#silence.current !== undefined || waitsFor(this.#blocks) === 'question';
  }

  #end(phase: ReplyPhase, sentence: string | undefined): void {
    this.#isOver = true;
    this.#phase = phase;
    this.#sentence = sentence;
    this.#stopSentence = undefined;
    this.#waitCause = undefined;
    this.#notifyChanged();
  }

  #fileLines(): string[] {
    if (this.#uploadLines.length > 0) return [...this.#uploadLines];
    return missingFileLines([...this.#fileNotes, ...this.#forwardedFileNotes], this.#limits, {
      sent: this.#isDelivered,
    });
  }

  #notifyChanged(): void {
    if (this.#isOver) this.#isUnread = false;
    this.#elapsedMs = Date.now() - this.#startedAt;
    if (!this.#isUnread) this.#onChange();
  }
}
