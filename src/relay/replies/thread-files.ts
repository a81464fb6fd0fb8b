import { Readable } from 'node:stream';
import { AgentError } from '../../agent/errors.ts';
import type { AnswerRest } from '../../render/splitting/answer-splitter.ts';
import {
  isPermanentRefusal,
  PayloadRefusedError,
  SlackAuthError,
  SlackError,
  SlackLeaseError,
} from '../../slack/errors.ts';
import { FileNotShownError, type SharePlace, type StagedFile } from '../../slack/file-uploads.ts';
import { StoreError } from '../../store/errors.ts';
import type { Post, TurnLocation } from '../../store/schema.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease, throwIfInterrupted } from '../runtime/lease.ts';
import { backoffMs, transientFailure, withRetry } from '../runtime/retry-and-giving-up.ts';
import { isInterruption } from '../runtime/turn-exceptions.ts';
import { once, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';
import { isThreadUnreachable } from '../runtime/unreachable-threads.ts';
import { asRendered, formSender } from './fallback-forms.ts';

/** Attempts at a step before a file is left out. */
const MAX_ATTEMPTS = 3;

export interface FileToShare extends Pick<StagedFile, 'name' | 'altText' | 'sizeBytes'> {
  part: string;
  /** What the thread shows in place of the name. */
  title?: string;
  /** Opens nothing before the first chunk is taken: Slack may refuse the file. */
  bytes: () => AsyncIterable<Uint8Array>;
}

/**
 * A turn's files in Slack: in its thread or, if `hidden`, only in blocks of its messages. Each is a post with
 * Slack's id of the file as its key: intended before its share; files.info settles an unknown outcome.
 */
export class ThreadFiles {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  readonly #place: SharePlace;
  readonly #sendForm: ReturnType<typeof formSender>;
  #posts: ReadonlyMap<string, Post> = new Map();
  /** Slack's ids of files that it has and nobody sees yet, by part. */
  readonly #staged = new Map<string, string>();

  constructor(work: ThreadWork, turn: TurnLocation, { hidden = false } = {}) {
    this.#work = work;
    this.#turn = turn;
    this.#place = hidden ? {} : { channel: turn.channel, threadTs: turn.thread_ts };
    this.#sendForm = formSender(work, turn);
  }

  /**
   * Shares files, each once: in one message of the thread, unless they are hidden. Returns by part Slack's ids
   * of those that it has. A file that Slack does not take, or accepts and never shows, is left out and logged.
   * Throws if the turn must not continue in this process, or the store is unavailable.
   */
  async share(files: readonly FileToShare[]): Promise<ReadonlyMap<string, string>> {
    const share = async () => {
      const absent = await this.#settleAndFindAbsent(files);
      const mayPass = (error: unknown) => transientFailure(rootError(error)) !== undefined;
      for (const file of absent)
        await this.#attempt('a file could not be uploaded to Slack', () => this.#stage(file), mayPass);
      await this.#shareStaged(absent);
    };
    await this.#attempt('files could not be shared', share, (error) => !(error instanceof FileNotShownError));
    const shared = files.flatMap(({ part }) => (this.#isShared(part) ? (this.#posts.get(part) ?? []) : []));
    return new Map(shared.map(({ part, dedupe_key: id }) => [part, id]));
  }

  /** Attaches a text as a file, once. Returns false if Slack does not take the file; throws errors that may pass. */
  async attach(part: string, rest: Pick<AnswerRest, 'name' | 'title' | 'content'>): Promise<boolean> {
    const { name, title, content } = rest;
    const bytes = Buffer.from(content, 'utf8');
    const file = { part, name, title, sizeBytes: bytes.length, bytes: () => Readable.from([bytes]) };
    const shareUnlessThere = async () => {
      const absent = await this.#settleAndFindAbsent([file]);
      for (const one of absent) await this.#stage(one);
      await this.#shareStaged(absent);
    };
    try {
      // A file has no simpler form: `#sendForm` only refuses it once Slack has failed at it too often.
      await this.#sendForm(part, [asRendered], () => undefined, shareUnlessThere);
    } catch (err) {
      if (!isPermanentRefusal(err) && !(err instanceof PayloadRefusedError)) throw err;
      this.#work.deps.log.error({ err, turn: this.#turn.id, part }, 'a text cannot be attached as a file');
      return false;
    }
    return true;
  }

  /** Attaches as CSV the tables of which the answer shows only a part. Returns false if Slack does not take one. */
  async attachTables(tables: readonly string[]): Promise<boolean> {
    for (const [index, content] of tables.entries()) {
      const name = tables.length === 1 ? 'table.csv' : `table-${index + 1}.csv`;
      if (!(await this.attach(`table:${index}`, { name, title: name, content }))) return false;
    }
    return true;
  }

  /**
   * Takes a step until it succeeds. Returns without it, so that the turn goes on without the file, once the step has
   * failed a few times, or with an error that never passes. Throws errors after which the turn must not go on.
   */
  async #attempt(failure: string, step: () => Promise<void>, mayPass: (error: unknown) => boolean) {
    const { lease, deps } = this.#work;
    for (let attempt = 1; ; attempt += 1) {
      throwIfInterrupted(lease);
      try {
        return await step();
      } catch (err) {
        if (!this.#mayLeaveOut(err)) throw err;
        deps.log.warn({ err, turn: this.#turn.id, attempt }, failure);
        if (attempt >= MAX_ATTEMPTS || !mayPass(err)) return;
        await sleepWithLease(transientFailure(rootError(err))?.waitMs ?? backoffMs(attempt), lease);
      }
    }
  }

  #isShared(part: string): boolean {
    return this.#posts.get(part)?.state === 'posted';
  }

  /** Settles the shares with an unknown outcome, and returns the files that the thread does not have. */
  async #settleAndFindAbsent(files: readonly FileToShare[]): Promise<FileToShare[]> {
    const { deps, lease, workspace } = this.#work;
    this.#posts = await deps.store.posts.ofTurn(this.#turn);
    for (const { part } of files) {
      const post = this.#posts.get(part);
      if (post?.state !== 'intended') continue;
      await waitUntilCallEnded(workspace, post.intended_at, lease);
      const outcome = await workspace.uploads.shareOutcome(post.dedupe_key, this.#place, lease);
      this.#staged.delete(part); // An absent file is uploaded anew: Slack may have it no more.
      await (outcome === 'shared' ? this.#settle([part], []) : this.#settle([], [part]));
    }
    return files.filter(({ part }) => !this.#isShared(part));
  }

  /** Uploads a file to Slack, where nobody sees it yet. */
  async #stage({ part, name, altText, sizeBytes, bytes }: FileToShare): Promise<void> {
    if (this.#staged.has(part)) return;
    const { uploads } = this.#work.workspace;
    const file = { name, altText, sizeBytes, content: bytes(), guard: this.#work.lease };
    this.#staged.set(part, (await uploads.stage(file)).fileId);
  }

  /**
   * Shows the uploaded files in one call. Throws the call's error. What that says of the files is recorded; after an
   * unknown outcome the intents stay, and the next attempt looks for them (`#settleAndFindAbsent`).
   */
  async #shareStaged(files: readonly FileToShare[]): Promise<void> {
    const staged = files.flatMap(({ part, name, title = name }) => {
      const id = this.#staged.get(part);
      return id === undefined ? [] : [{ part, id, title }];
    });
    if (staged.length === 0) return;
    const { deps, lease, workspace } = this.#work;
    // Retried apart from the share: an intent whose answer was lost must not count as a share in doubt.
    const intend = async () => {
      for (const { part, id } of staged) await deps.store.posts.intend(this.#turn, part, id);
    };
    await withRetry(this.#work, intend, { about: { turn: this.#turn.id } });
    const shown = staged.map(({ id, title }) => ({ id, title }));
    const act = () => workspace.uploads.share({ ...this.#place, files: shown, guard: lease });
    // Called only if the outcome is known: of errors, FileNotShownError alone says that some files are shown.
    const settleByError = async (error: unknown) => {
      const isAbsent = (id: string) => !(error instanceof FileNotShownError) || error.fileIds.includes(id);
      const absent = staged.filter(({ id }) => isAbsent(id));
      const shared = staged.filter((one) => !absent.includes(one));
      await this.#settle(partsOf(shared), partsOf(absent));
      // After a permanent refusal, the bytes are sent again: Slack may have lost them.
      if (transientFailure(error) === undefined) for (const { part } of absent) this.#staged.delete(part);
    };
    await once({ act, ifNoEffect: settleByError }, lease);
    await this.#settle(partsOf(staged), []);
  }

  /** Records the files that the thread has, as posts without a `ts`; withdraws the intents of the absent. */
  async #settle(shared: readonly string[], absent: readonly string[]): Promise<void> {
    const { posts } = this.#work.deps.store;
    const outcomes = shared.map((part) => ({ part, ts: null }));
    await posts.record(this.#turn, outcomes);
    for (const part of absent) await posts.delete(this.#turn, part);
    this.#posts = await posts.ofTurn(this.#turn);
  }

  /** Whether the turn may go on without the file after an error: not if it lacks its thread, app, store or lease. */
  #mayLeaveOut(error: unknown): boolean {
    if (this.#work.lease.signal.aborted || error instanceof SlackLeaseError) return false;
    if (isThreadUnreachable(error)) return false;
    if (error instanceof SlackAuthError && error.isInstallationDead) return false;
    return !isInterruption(error, 'hand_over') && !(error instanceof StoreError);
  }
}

/** The cause of a failed upload: the service's own error where it did not send the bytes. */
function rootError(error: unknown): unknown {
  return error instanceof SlackError && error.cause instanceof AgentError ? error.cause : error;
}

function partsOf(files: readonly { part: string }[]): string[] {
  return files.map(({ part }) => part);
}
