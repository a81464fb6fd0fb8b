import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
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
  renderReply,
} from '../../render/messages/reply-message.ts';
import { AnswerSplitter } from '../../render/splitting/answer-splitter.ts';
import type { AnswerRest } from '../../render/splitting/overflow.ts';
import type { FileLimits } from '../../render/strings/file-transfer.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Turn, TurnOutcome } from '../../store/schema.ts';
import type { WaitCause } from '../runtime/retry.ts';
import { toReplyBlock } from './reply-blocks.ts';

/** A sign of life while nothing changes: the reply's clock is shown anew this often (ms). */
const CLOCK_REFRESH_MS = 30_000;

const WAIT_SENTENCES: Record<WaitCause, string> = {
  service_unreachable: strings.serviceUnreachable,
  service_busy: strings.serviceBusy,
  service_key: strings.rejectedApiKey,
  slack: strings.slackRateLimited,
  store: strings.databaseUnreachable,
};

const END_PHASES: Partial<Record<TurnOutcome, ReplyPhase>> = {
  helped: 'done',
  kept: 'done',
  cancelled: 'cancelled',
};

/** What a turn's reply shows, gathered from the turn's steps; `onChange` hears when there is something new. */
export class ReplyState {
  readonly #turnId: string;
  readonly #startedAt: number;
  readonly #limits: FileLimits;
  readonly #onChange: () => void;
  readonly #draft = new AnswerSplitter();
  #maxMessages: number;
  #phase: ReplyPhase = 'starting';
  #sentence: string | undefined;
  #waitCause: WaitCause | undefined;
  #isOver = false;
  /** What is said from a stop on until the end. */
  #stopSentence: string | undefined;
  #fileNotes: readonly FileNote[] = [];
  #forwardedFileNotes: readonly FileNote[] = [];
  #notes: readonly string[] = [];
  #blocks: readonly ReplyBlock[] = [];
  #lastFingerprint = '';
  #changedAt = performance.now();
  #isSilent = false;
  #silenceCount = 0;
  #breaks: readonly number[];
  /** One line for each file, while files are passed on. */
  #uploadLines: readonly string[] = [];
  /** The message is at the service. */
  #isDelivered = false;
  #elapsedMs = 0;
  #offer: 'choose' | undefined;
  #hidesSteps = false;
  /** An earlier process may have shown more of the answer than is known here before the first read. */
  #isUnread: boolean;

  constructor(
    turn: Turn,
    limits: { fileLimits: FileLimits; maxReplyMessages: number },
    onChange: () => void,
  ) {
    this.#turnId = turn.id;
    this.#isUnread = turn.user_message_id !== null;
    this.#breaks = turn.breaks;
    this.#startedAt = turn.started_at.getTime();
    this.#limits = limits.fileLimits;
    this.#maxMessages = limits.maxReplyMessages;
    this.#onChange = onChange;
  }

  /** Whether nothing of the answer is there yet. */
  get isBlank(): boolean {
    return this.#blocks.length === 0;
  }

  /** The number of the silence that the agent is in; undefined while it is heard of. */
  get silence(): number | undefined {
    return this.#isSilent ? this.#silenceCount : undefined;
  }

  /** The turn's next step. */
  setStep(phase: ReplyPhase, sentence?: string): void {
    if (this.#phase === phase && this.#sentence === sentence) return;
    this.#phase = phase;
    this.#sentence = sentence;
    this.#notifyChanged();
  }

  /** The channel does not want to see the agent's steps: only the time. */
  hideSteps(): void {
    this.#hidesSteps = true;
  }

  /** What became of the message's files. */
  fileLimits(notes: readonly FileNote[]): void {
    if (notes === this.#fileNotes) return;
    this.#fileNotes = notes;
    this.#uploadLines = [];
    if (notes.some((note) => note.reason !== null)) this.#notifyChanged();
  }

  /** Where the message's files are on their way. */
  setUploadProgress(files: readonly FileProgress[]): void {
    const lines = fileProgressLines(files, this.#limits);
    if (lines.join('\n') === this.#uploadLines.join('\n')) return;
    this.#uploadLines = lines;
    this.#phase = 'uploading';
    this.#sentence = fileProgressSentence(files);
    this.#notifyChanged();
  }

  /** A step waits for something that passes by itself; undefined when it goes on. */
  setWaitCause(trouble: WaitCause | undefined): void {
    if (this.#waitCause === trouble) return;
    this.#waitCause = trouble;
    this.#notifyChanged();
  }

  /** The agent's reply as it is now, with its fingerprint. After `silenceMs` without anything new the thread says so, once. */
  onRead(message: AgentMessage, fingerprint: string, silenceMs: number): void {
    this.#isDelivered = true;
    this.#isUnread = false;
    if (fingerprint !== this.#lastFingerprint) {
      this.#lastFingerprint = fingerprint;
      this.#changedAt = performance.now();
      this.#isSilent = false;
      this.#blocks = message.content.map(toReplyBlock);
      this.#draft.recordGrowth(this.answer);
      this.#phase = phaseOf(message);
      this.#sentence = undefined;
      this.#notifyChanged();
      return;
    }
    const unchangedMs = performance.now() - this.#changedAt;
    if (!this.#isSilent && unchangedMs > silenceMs && this.#phase === 'working') {
      this.#isSilent = true;
      this.#silenceCount += 1;
      this.#sentence = strings.agentSilent(silenceMs);
      this.#notifyChanged();
    } else if (Date.now() - this.#startedAt - this.#elapsedMs > CLOCK_REFRESH_MS) {
      this.#notifyChanged();
    }
  }

  /** Somebody's message was passed on to the silent agent: it is waited for anew. */
  onForwarded(writer: string, notes: readonly FileNote[]): void {
    this.#forwardedFileNotes = [...this.#forwardedFileNotes, ...notes];
    this.#isSilent = false;
    this.#changedAt = performance.now();
    this.#sentence = strings.messagePassedOn(writer);
    this.#notifyChanged();
  }

  /** Somebody asked for a stop; `who` is a name, or '' where it is not known. */
  onStopRequested(who: string): void {
    if (this.#isOver) return;
    this.#stopSentence = strings.stoppingFor(who);
    this.#notifyChanged();
  }

  /** The service takes no message while the agent works. */
  onPutBack(): void {
    if (!this.#isSilent) return;
    this.#sentence = strings.messageWaits;
    this.#notifyChanged();
  }

  /** The reply has settled. */
  settle(
    message: AgentMessage,
    end: { notes: readonly string[]; stoppedBy: string; phase: ReplyPhase },
  ): void {
    this.#blocks = message.content.map(toReplyBlock);
    this.#notes = end.notes;
    this.#isOver = true;
    this.#phase = end.phase;
    this.#stopSentence = undefined;
    this.#waitCause = undefined;
    this.#sentence = undefined;
    if (end.phase === 'cancelled') this.#sentence = strings.stopped(end.stoppedBy);
    if (end.phase === 'failed') this.#sentence = strings.agentFailed(message.error ?? '');
    this.#notifyChanged();
  }

  /** The turn ends before its reply has settled. */
  endEarly(outcome: TurnOutcome, sentence: string, offer?: 'choose'): void {
    this.#isOver = true;
    this.#phase = END_PHASES[outcome] ?? 'failed';
    this.#offer = offer;
    this.#stopSentence = undefined;
    this.#waitCause = undefined;
    this.#sentence = sentence;
    this.#notifyChanged();
  }

  /** The answer as it is now. */
  get answer(): string {
    return answerText(this.#blocks);
  }

  /** The answer goes on in new messages at these places (characters). */
  setBreaks(places: readonly number[]): void {
    this.#breaks = places;
    this.#notifyChanged();
  }

  render(): RenderedMessage[] {
    return renderReply(this.#toShownReply(), this.#draft);
  }

  /** What was rendered last is not needed again soon. */
  discardRendered(): void {
    this.#draft.dropCache();
  }

  /** What of the answer the messages do not show. */
  overflow(): AnswerRest | undefined {
    return answerOverflow(this.#toShownReply(), this.#draft);
  }

  /** The answer takes as many messages as it needs: its rest cannot be attached. */
  showAll(): void {
    this.#maxMessages = Number.POSITIVE_INFINITY;
    this.#notifyChanged();
  }

  #toShownReply(): DisplayedReply {
    const trouble = this.#waitCause === undefined ? undefined : WAIT_SENTENCES[this.#waitCause];
    const phase = trouble === undefined ? this.#phase : ('delayed' as const);
    const said = [this.#stopSentence, trouble].filter((one) => one !== undefined).join(' ');
    const sentence = said === '' ? this.#sentence : said;
    return {
      turnId: this.#turnId,
      phase: this.#stopSentence === undefined ? phase : ('stopping' as const),
      blocks: this.#blocks,
      breaks: this.#breaks,
      elapsedMs: this.#elapsedMs,
      notes: [...this.#fileLines(), ...this.#notes],
      hideSteps: this.#hidesSteps,
      ...(sentence === undefined ? {} : { sentence }),
      maxMessages: this.#maxMessages,
      offer: this.#offer,
    };
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

/** The phase of a reply that is being written. */
function phaseOf(message: AgentMessage): ReplyPhase {
  if (message.status === 'pending') return 'queued';
  return message.status === 'cancelling' ? 'stopping' : 'working';
}
