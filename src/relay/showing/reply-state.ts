import type { Message as AgentMessage } from '../../agent/schema.ts';
import { answerText, type ReplyBlock } from '../../reply/answer.ts';
import { Draft } from '../../reply/draft.ts';
import {
  type FileLimits,
  type FileProgress,
  missingLines,
  progressLines,
  progressSentence,
} from '../../reply/file-lines.ts';
import type { Rest } from '../../reply/overflow.ts';
import { answerRest, type ReplyPhase, renderReply, type ShownReply } from '../../reply/reply-message.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import * as words from '../../reply/words.ts';
import type { FileNote, Turn, TurnOutcome } from '../../store/tables.ts';
import type { Trouble } from '../patience.ts';
import { replyBlock } from './rendered.ts';

/** A sign of life while nothing changes: the reply's clock is shown anew this often (ms). */
const clockEveryMs = 30_000;

const troubleWords: Record<Trouble, string> = {
  service_unreachable: words.offline,
  service_busy: words.busy,
  service_key: words.badServiceKey,
  slack: words.slackTrouble,
  store: words.storeTrouble,
};

const endPhase: Partial<Record<TurnOutcome, ReplyPhase>> = {
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
  readonly #draft = new Draft();
  #mostMessages: number;
  #phase: ReplyPhase = 'starting';
  #sentence: string | undefined;
  #trouble: Trouble | undefined;
  #over = false;
  /** What is said from a stop on until the end. */
  #stopping: string | undefined;
  #files: readonly FileNote[] = [];
  #passedFiles: readonly FileNote[] = [];
  #notes: readonly string[] = [];
  #blocks: readonly ReplyBlock[] = [];
  #seen = '';
  #grewAt = performance.now();
  #silent = false;
  #silences = 0;
  #breaks: readonly number[];
  /** One line for each file, while files are passed on. */
  #uploads: readonly string[] = [];
  /** The message is at the service. */
  #arrived = false;
  #elapsedMs = 0;
  #offer: 'choose' | undefined;
  #quiet = false;
  /** An earlier process may have shown more of the answer than is known here before the first read. */
  #unread: boolean;

  constructor(turn: Turn, limits: { files: FileLimits; replyMessages: number }, onChange: () => void) {
    this.#turnId = turn.id;
    this.#unread = turn.user_message_id !== null;
    this.#breaks = turn.breaks;
    this.#startedAt = turn.started_at.getTime();
    this.#limits = limits.files;
    this.#mostMessages = limits.replyMessages;
    this.#onChange = onChange;
  }

  /** Whether nothing of the answer is there yet. */
  get blank(): boolean {
    return this.#blocks.length === 0;
  }

  /** The number of the silence that the agent is in; undefined while it is heard of. */
  get silence(): number | undefined {
    return this.#silent ? this.#silences : undefined;
  }

  /** The turn's next step. */
  step(phase: ReplyPhase, sentence?: string): void {
    if (this.#phase === phase && this.#sentence === sentence) return;
    this.#phase = phase;
    this.#sentence = sentence;
    this.#touch();
  }

  /** The channel does not want to see the agent's steps: only the time. */
  hideSteps(): void {
    this.#quiet = true;
  }

  /** What became of the message's files. */
  files(notes: readonly FileNote[]): void {
    if (notes === this.#files) return;
    this.#files = notes;
    this.#uploads = [];
    if (notes.some((note) => note.reason !== null)) this.#touch();
  }

  /** Where the message's files are on their way. */
  uploading(files: readonly FileProgress[]): void {
    const lines = progressLines(files, this.#limits);
    if (lines.join('\n') === this.#uploads.join('\n')) return;
    this.#uploads = lines;
    this.#phase = 'uploading';
    this.#sentence = progressSentence(files);
    this.#touch();
  }

  /** A step waits for something that passes by itself; undefined when it goes on. */
  trouble(trouble: Trouble | undefined): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    this.#touch();
  }

  /** The agent's reply as it is now, with its fingerprint. After `silenceMs` without anything new the thread says so, once. */
  read(message: AgentMessage, now: string, silenceMs: number): void {
    this.#arrived = true;
    this.#unread = false;
    if (now !== this.#seen) {
      this.#seen = now;
      this.#grewAt = performance.now();
      this.#silent = false;
      this.#blocks = message.content.map(replyBlock);
      this.#draft.grown(this.answer);
      this.#phase = phaseOf(message);
      this.#sentence = undefined;
      this.#touch();
      return;
    }
    const quietMs = performance.now() - this.#grewAt;
    if (!this.#silent && quietMs > silenceMs && this.#phase === 'working') {
      this.#silent = true;
      this.#silences += 1;
      this.#sentence = words.silent(silenceMs);
      this.#touch();
    } else if (Date.now() - this.#startedAt - this.#elapsedMs > clockEveryMs) {
      this.#touch();
    }
  }

  /** Somebody's message was passed on to the silent agent: it is waited for anew. */
  passedOn(writer: string, notes: readonly FileNote[]): void {
    this.#passedFiles = [...this.#passedFiles, ...notes];
    this.#silent = false;
    this.#grewAt = performance.now();
    this.#sentence = words.passedOn(writer);
    this.#touch();
  }

  /** Somebody asked for a stop; `who` is a name, or '' where it is not known. */
  stopping(who: string): void {
    if (this.#over) return;
    this.#stopping = words.stoppingFor(who);
    this.#touch();
  }

  /** The service takes no message while the agent works. */
  putBack(): void {
    if (!this.#silent) return;
    this.#sentence = words.putBack;
    this.#touch();
  }

  /** The reply has settled. */
  settle(
    message: AgentMessage,
    end: { notes: readonly string[]; stoppedBy: string; phase: ReplyPhase },
  ): void {
    this.#blocks = message.content.map(replyBlock);
    this.#notes = end.notes;
    this.#over = true;
    this.#phase = end.phase;
    this.#stopping = undefined;
    this.#trouble = undefined;
    this.#sentence = undefined;
    if (end.phase === 'cancelled') this.#sentence = words.cancelled(end.stoppedBy);
    if (end.phase === 'failed') this.#sentence = words.failed(message.error ?? '');
    this.#touch();
  }

  /** The turn ends before its reply has settled. */
  end(outcome: TurnOutcome, sentence: string, offer?: 'choose'): void {
    this.#over = true;
    this.#phase = endPhase[outcome] ?? 'failed';
    this.#offer = offer;
    this.#stopping = undefined;
    this.#trouble = undefined;
    this.#sentence = sentence;
    this.#touch();
  }

  /** The answer as it is now. */
  get answer(): string {
    return answerText(this.#blocks);
  }

  /** The answer goes on in new messages at these places (characters). */
  breaks(places: readonly number[]): void {
    this.#breaks = places;
    this.#touch();
  }

  render(): RenderedMessage[] {
    return renderReply(this.#shown(), this.#draft);
  }

  /** What was rendered last is not needed again soon. */
  forget(): void {
    this.#draft.forget();
  }

  /** What of the answer the messages do not show. */
  rest(): Rest | undefined {
    return answerRest(this.#shown(), this.#draft);
  }

  /** The answer takes as many messages as it needs: its rest cannot be attached. */
  showAll(): void {
    this.#mostMessages = Number.POSITIVE_INFINITY;
    this.#touch();
  }

  #shown(): ShownReply {
    const trouble = this.#trouble === undefined ? undefined : troubleWords[this.#trouble];
    const phase = trouble === undefined ? this.#phase : ('delayed' as const);
    const said = [this.#stopping, trouble].filter((one) => one !== undefined).join(' ');
    const sentence = said === '' ? this.#sentence : said;
    return {
      turnId: this.#turnId,
      phase: this.#stopping === undefined ? phase : ('stopping' as const),
      blocks: this.#blocks,
      breaks: this.#breaks,
      elapsedMs: this.#elapsedMs,
      notes: [...this.#fileLines(), ...this.#notes],
      quiet: this.#quiet,
      ...(sentence === undefined ? {} : { sentence }),
      mostMessages: this.#mostMessages,
      offer: this.#offer,
    };
  }

  #fileLines(): string[] {
    if (this.#uploads.length > 0) return [...this.#uploads];
    return missingLines([...this.#files, ...this.#passedFiles], this.#limits, { sent: this.#arrived });
  }

  #touch(): void {
    if (this.#over) this.#unread = false;
    this.#elapsedMs = Date.now() - this.#startedAt;
    if (!this.#unread) this.#onChange();
  }
}

/** The phase of a reply that is being written. */
function phaseOf(message: AgentMessage): ReplyPhase {
  if (message.status === 'pending') return 'queued';
  return message.status === 'cancelling' ? 'stopping' : 'working';
}
