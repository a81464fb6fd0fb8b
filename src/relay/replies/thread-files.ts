import { AgentError } from '../../agent/errors.ts';
import { SlackAuthError, SlackError, SlackLeaseError } from '../../slack/errors.ts';
import { StoreError } from '../../store/errors.ts';
import type { SlackFileRow, Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { backoffMs, sleepWithLease, throwIfInterrupted, transientFailure } from '../runtime/retry.ts';
import { HandOver } from '../runtime/turn-errors.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';

/** How often a step is tried; a file that cannot be put into the thread is left out. */
const MAX_ATTEMPTS = 3;

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
  readonly #deps: RelayDeps;
  readonly #workspace: WorkspaceClient;
  readonly #turn: Turn;
  readonly #lease: Lease;
  #rows = new Map<string, SlackFileRow>();

  constructor(deps: RelayDeps, workspace: WorkspaceClient, turn: Turn, lease: Lease) {
    this.#deps = deps;
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
      await this.#resolveUnknownShares(files);
      const left = files.filter(({ part }) => this.#rows.get(part)?.state !== 'shared');
      if (left.length === 0) return;
      for (const file of left) await this.#stageFile(file);
      try {
        return await this.#shareStaged(left);
      } catch (error) {
        if (!this.#mayLeaveOut(error)) throw error;
        this.#deps.log.warn({ err: error, turn: this.#turn.id, attempt }, 'files could not be shared');
        if (attempt >= MAX_ATTEMPTS) return;
        await sleepWithLease(transientFailure(error)?.waitMs ?? backoffMs(attempt), this.#lease);
      }
    }
  }

  async #load(): Promise<void> {
    this.#rows = await this.#deps.store.slackFiles.ofTurn(this.#turn);
  }

  /** Finds out what became of shares whose outcome is unknown. */
  async #resolveUnknownShares(files: readonly FileToShare[]): Promise<void> {
    for (const { part } of files) {
      const row = this.#rows.get(part);
      if (row?.state !== 'sharing') continue;
      await waitUntilCallEnded(row.intended_at, SLACK_CALL_LIFETIME_MS, this.#lease);
      const { channel } = this.#turn;
      const where = await this.#workspace.uploads.shareStatus(row.slack_file, channel, this.#lease);
      if (where !== 'absent') await this.#setState([part], 'shared');
      else await this.#forget([part]);
    }
  }

  /** Gives Slack the bytes of a file that it does not have yet. */
  async #stageFile(file: FileToShare): Promise<void> {
    const { part, name, altText, sizeBytes } = file;
    for (let attempt = 1; this.#rows.get(part)?.state !== 'staged'; attempt += 1) {
      throwIfInterrupted(this.#lease);
      try {
        await this.#workspace.uploads.stage({
          name,
          altText,
          sizeBytes,
          content: file.bytes(),
          onFileId: (fileId) => this.#deps.store.slackFiles.begin(this.#turn, part, fileId),
          guard: this.#lease,
        });
        await this.#deps.store.slackFiles.setState(this.#turn, [part], 'staged');
        await this.#load();
      } catch (error) {
        if (!this.#mayLeaveOut(error)) throw error;
        const wait = transientFailure(rootError(error));
        this.#deps.log.warn(
          { err: error, turn: this.#turn.id, part, attempt },
          'a file could not be given to Slack',
        );
        if (wait === undefined || attempt >= MAX_ATTEMPTS) return;
        await sleepWithLease(wait.waitMs ?? backoffMs(attempt), this.#lease);
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
    await this.#setState(parts, 'sharing');
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
        if (transientFailure(error) === undefined) await this.#forget(parts);
        else await this.#setState(parts, 'staged');
      }
      throw error;
    }
    await this.#setState(parts, 'shared');
  }

  async #setState(parts: readonly string[], state: SlackFileRow['state']): Promise<void> {
    await this.#deps.store.slackFiles.setState(this.#turn, parts, state);
    await this.#load();
  }

  async #forget(parts: readonly string[]): Promise<void> {
    await this.#deps.store.slackFiles.delete(this.#turn, parts);
    await this.#load();
  }

  /** Whether the turn goes on without the file after this error. */
  #mayLeaveOut(error: unknown): boolean {
    if (this.#lease.signal.aborted || error instanceof SlackLeaseError) return false;
    if (error instanceof SlackAuthError && error.isInstallationDead) return false;
    return !(error instanceof HandOver) && !(error instanceof StoreError);
  }
}

/** What an upload failed at: the service's own error where it did not hand out the bytes. */
function rootError(error: unknown): unknown {
  return error instanceof SlackError && error.cause instanceof AgentError ? error.cause : error;
}
