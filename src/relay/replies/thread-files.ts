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
import { FileNotShownError, type SharePlace } from '../../slack/file-uploads.ts';
import { StoreError } from '../../store/errors.ts';
import type { SlackFileRow, TurnLocation } from '../../store/schema.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease, throwIfInterrupted } from '../runtime/lease.ts';
import { backoffMs, isThreadUnreachable, transientFailure } from '../runtime/retry-and-giving-up.ts';
import { isInterruption } from '../runtime/turn-exceptions.ts';
import { waitUntilCallEnded } from '../runtime/unknown-outcome.ts';
import { asRendered, formSender } from './fallback-forms.ts';

/** Attempts at a step before a file is left out. */
const MAX_ATTEMPTS = 3;

/** A file for a turn's thread. */
export interface FileToShare {
  part: string;
  name: string;
  /** What the thread shows in place of the name. */
  title?: string;
  altText?: string | undefined;
  sizeBytes: number;
  /** Opens nothing before the first chunk is taken: Slack may refuse the file. */
  bytes: () => AsyncIterable<Uint8Array>;
}

/** A turn's files in Slack: in its thread or, where they are `hidden`, only in blocks of its messages. Ids and shares are recorded before their calls; files.info settles an unknown outcome. */
export class ThreadFiles {
  readonly #work: ThreadWork;
  readonly #turn: TurnLocation;
  readonly #place: SharePlace;
  readonly #sendForm: ReturnType<typeof formSender>;
  #rows = new Map<string, SlackFileRow>();

  constructor(work: ThreadWork, turn: TurnLocation, { hidden = false } = {}) {
    this.#work = work;
    this.#turn = turn;
    this.#place = hidden ? {} : { channel: turn.channel, threadTs: turn.thread_ts };
    this.#sendForm = formSender(work, turn);
  }

  /**
   * Shares files in the thread in one message, each once. Returns the ids of those that are there, by part: a file that Slack does not
   * take, or accepts and never shows, is left out and logged. Throws if the turn must not continue in this process, or the store is unavailable.
   */
  async share(files: readonly FileToShare[]): Promise<ReadonlyMap<string, string>> {
    const share = async () => {
      const left = await this.#notShared(files);
      const mayPass = (error: unknown) => transientFailure(rootError(error)) !== undefined;
      for (const file of left)
        await this.#attempt('a file could not be uploaded to Slack', () => this.#stage(file), mayPass);
      await this.#shareStaged(left);
    };
    await this.#attempt('files could not be shared', share, (error) => !(error instanceof FileNotShownError));
    const shared = files.flatMap(({ part }) => (this.#isShared(part) ? (this.#rows.get(part) ?? []) : []));
    return new Map(shared.map(({ part, slack_file_id: id }) => [part, id]));
  }

  /** Attaches what an answer's messages do not show, once. False if Slack takes or shows no file. Throws a SlackError that may pass. */
  async attach(part: string, rest: Pick<AnswerRest, 'name' | 'title' | 'content'>): Promise<boolean> {
    const { name, title, content } = rest;
    const bytes = Buffer.from(content, 'utf8');
    const file = { part, name, title, sizeBytes: bytes.length, bytes: () => Readable.from([bytes]) };
    const attach = async () => {
      const left = await this.#notShared([file]);
      for (const one of left) await this.#stage(one);
      await this.#shareStaged(left);
    };
    try {
      await this.#sendForm(part, [asRendered], () => undefined, attach);
    } catch (err) {
      if (!isPermanentRefusal(err) && !(err instanceof PayloadRefusedError)) throw err;
      const { log } = this.#work.deps;
      log.error({ err, turn: this.#turn.id, part }, 'a part of an answer cannot be attached');
      return false;
    }
    return true;
  }

  /** Attaches the tables, as CSV, of which the answer shows the first rows or columns. False if Slack does not take one. */
  async attachTables(tables: readonly string[]): Promise<boolean> {
    for (const [index, content] of tables.entries()) {
      const name = tables.length === 1 ? 'table.csv' : `table-${index + 1}.csv`;
      if (!(await this.attach(`table:${index}`, { name, title: name, content }))) return false;
    }
    return true;
  }

  /** Takes a step until it succeeds or a few attempts have failed. Throws what the turn does not continue after. */
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
    return this.#rows.get(part)?.state === 'shared';
  }

  async #load(): Promise<void> {
    this.#rows = await this.#work.deps.store.slackFiles.ofTurn(this.#turn);
  }

  /** Those of the files that the thread does not have, after a look for shares whose outcome is unknown. */
  async #notShared(files: readonly FileToShare[]): Promise<FileToShare[]> {
    await this.#load();
    const { lease, workspace } = this.#work;
    for (const { part } of files) {
      const row = this.#rows.get(part);
      if (row?.state !== 'sharing') continue;
      await waitUntilCallEnded(row.intended_at, lease);
      const where = await workspace.uploads.shareOutcome(row.slack_file_id, this.#place, lease);
      if (where === 'shared') await this.#setState([part], 'shared');
      else await this.#forget([part]);
    }
    return files.filter(({ part }) => !this.#isShared(part));
  }

  async #stage({ part, name, altText, sizeBytes, bytes }: FileToShare): Promise<void> {
    if (this.#rows.get(part)?.state === 'staged') return;
    await this.#work.workspace.uploads.stage({
      name,
      altText,
      sizeBytes,
      content: bytes(),
      onFileId: (fileId) => this.#work.deps.store.slackFiles.begin(this.#turn, part, fileId),
      guard: this.#work.lease,
    });
    await this.#setState([part], 'staged');
  }

  async #shareStaged(files: readonly FileToShare[]): Promise<void> {
    const staged = files.flatMap(({ part, name, title = name }) => {
      const row = this.#rows.get(part);
      return row?.state === 'staged' ? [{ part, id: row.slack_file_id, title }] : [];
    });
    if (staged.length === 0) return;
    const parts = staged.map(({ part }) => part);
    await this.#setState(parts, 'sharing');
    try {
      await this.#work.workspace.uploads.share({
        ...this.#place,
        files: staged.map(({ id, title }) => ({ id, title })),
        guard: this.#work.lease,
      });
    } catch (error) {
      // After the lease has ended, the rows may belong to the process that now holds the thread.
      if (error instanceof SlackError && error.outcome === 'none' && this.#work.lease.remainingMs() > 0) {
        const isHidden = (id: string) => !(error instanceof FileNotShownError) || error.fileIds.includes(id);
        const lost = staged.filter(({ id }) => isHidden(id)).map(({ part }) => part);
        // Slack may have lost the bytes that an earlier process sent: they are sent again.
        if (transientFailure(error) === undefined) await this.#forget(lost);
        else await this.#setState(lost, 'staged');
        await this.#setState(
          parts.filter((part) => !lost.includes(part)),
          'shared',
        );
      }
      throw error;
    }
    await this.#setState(parts, 'shared');
  }

  async #setState(parts: readonly string[], state: SlackFileRow['state']): Promise<void> {
    await this.#work.deps.store.slackFiles.setState(this.#turn, parts, state);
    await this.#load();
  }

  async #forget(parts: readonly string[]): Promise<void> {
    await this.#work.deps.store.slackFiles.delete(this.#turn, parts);
    await this.#load();
  }

  /** Whether the turn continues without the file after this error. */
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
