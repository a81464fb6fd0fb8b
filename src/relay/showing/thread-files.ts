import { AgentError } from '../../agent/errors.ts';
import { LeaseEnded, SlackError, Unauthorized } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { SlackFileRow, Turn } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { HandOver } from '../interruption.ts';
import type { Lease } from '../lease.ts';
import { checkpoint, passing, pause, pauseMs } from '../patience.ts';
import { slackOverMs, untilOver } from '../settling.ts';

/** How often a step is tried; a file that cannot be put into the thread is left out. */
const mostTries = 3;

/** A file of ours for the thread. */
export interface FileToShare {
  /** What it is of its turn; at most one file has it. */
  part: string;
  name: string;
  /** For screen readers. */
  altText?: string | undefined;
  sizeBytes: number;
  /** Opens nothing before the first chunk is taken: Slack may not want them. */
  bytes(): AsyncIterable<Uint8Array>;
}

/**
 * A turn's files in Slack. The id is recorded before the bytes are sent, and that they are about to be shared before
 * the share; files.info decides after an unknown outcome.
 */
export class ThreadFiles {
  readonly #parts: RelayParts;
  readonly #workspace: Workspace;
  readonly #turn: Turn;
  readonly #lease: Lease;
  #rows = new Map<string, SlackFileRow>();

  constructor(parts: RelayParts, workspace: Workspace, turn: Turn, lease: Lease) {
    this.#parts = parts;
    this.#workspace = workspace;
    this.#turn = turn;
    this.#lease = lease;
  }

  /**
   * Puts files into the thread in one message, each once. What cannot be put there is left out and logged; throws
   * where the turn must not go on here, or the store is away.
   */
  async share(files: readonly FileToShare[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#load();
      await this.#settle(files);
      const left = files.filter(({ part }) => this.#rows.get(part)?.state !== 'shared');
      if (left.length === 0) return;
      for (const file of left) await this.#stage(file);
      try {
        return await this.#shareStaged(left);
      } catch (error) {
        if (!this.#mayLeaveOut(error)) throw error;
        this.#parts.log.warn({ err: error, turn: this.#turn.id, attempt }, 'files could not be shared');
        if (attempt >= mostTries) return;
        await pause(passing(error)?.waitMs ?? pauseMs(attempt), this.#lease);
      }
    }
  }

  async #load(): Promise<void> {
    this.#rows = await this.#parts.store.slackFiles.of(this.#turn);
  }

  /** Finds out what became of shares whose outcome is unknown. */
  async #settle(files: readonly FileToShare[]): Promise<void> {
    for (const { part } of files) {
      const row = this.#rows.get(part);
      if (row?.state !== 'sharing') continue;
      await untilOver(row.intended_at, slackOverMs, this.#lease);
      const { channel } = this.#turn;
      const where = await this.#workspace.uploads.whereabouts(row.slack_file, channel, this.#lease);
      if (where !== 'absent') await this.#place([part], 'shared');
      else await this.#forget([part]);
    }
  }

  /** Gives Slack the bytes of a file that it does not have yet. */
  async #stage(file: FileToShare): Promise<void> {
    const { part, name, altText, sizeBytes } = file;
    for (let attempt = 1; this.#rows.get(part)?.state !== 'staged'; attempt += 1) {
      checkpoint(this.#lease);
      try {
        await this.#workspace.uploads.stage({
          name,
          altText,
          sizeBytes,
          bytes: file.bytes(),
          onId: (fileId) => this.#parts.store.slackFiles.begin(this.#turn, part, fileId),
          guard: this.#lease,
        });
        await this.#parts.store.slackFiles.place(this.#turn, [part], 'staged');
        await this.#load();
      } catch (error) {
        if (!this.#mayLeaveOut(error)) throw error;
        const wait = passing(sourceError(error));
        this.#parts.log.warn(
          { err: error, turn: this.#turn.id, part, attempt },
          'a file could not be given to Slack',
        );
        if (wait === undefined || attempt >= mostTries) return;
        await pause(wait.waitMs ?? pauseMs(attempt), this.#lease);
      }
    }
  }

  async #shareStaged(files: readonly FileToShare[]): Promise<void> {
    const staged = files.flatMap(({ part, name }) => {
      const row = this.#rows.get(part);
      return row?.state === 'staged' ? [{ part, id: row.slack_file, title: name }] : [];
    });
    if (staged.length === 0) return;
    const parts = staged.map(({ part }) => part);
    await this.#place(parts, 'sharing');
    try {
      await this.#workspace.uploads.share({
        channel: this.#turn.channel,
        threadTs: this.#turn.root,
        files: staged.map(({ id, title }) => ({ id, title })),
        guard: this.#lease,
      });
    } catch (error) {
      // After the lease the rows may be those of the process that holds the thread now.
      if (error instanceof SlackError && error.outcome === 'none' && this.#lease.remainingMs() > 0) {
        // Slack may have forgotten bytes that an earlier process gave it: those are given again.
        if (passing(error) === undefined) await this.#forget(parts);
        else await this.#place(parts, 'staged');
      }
      throw error;
    }
    await this.#place(parts, 'shared');
  }

  async #place(parts: readonly string[], state: SlackFileRow['state']): Promise<void> {
    await this.#parts.store.slackFiles.place(this.#turn, parts, state);
    await this.#load();
  }

  async #forget(parts: readonly string[]): Promise<void> {
    await this.#parts.store.slackFiles.forget(this.#turn, parts);
    await this.#load();
  }

  /** Whether the turn goes on without the file after this error. */
  #mayLeaveOut(error: unknown): boolean {
    if (this.#lease.signal.aborted || error instanceof LeaseEnded) return false;
    if (error instanceof Unauthorized && error.dead) return false;
    return !(error instanceof HandOver) && !(error instanceof StoreError);
  }
}

/** What an upload failed at: the service's own error where it did not hand out the bytes. */
function sourceError(error: unknown): unknown {
  return error instanceof SlackError && error.cause instanceof AgentError ? error.cause : error;
}
