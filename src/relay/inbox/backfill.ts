import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL, type PendingBackfill } from '../../store/slack/backfill-queue.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxOutcome,
  type IncomingMessage,
  isDirectChannel,
  isEarlierTs,
  isUserMessageSubtype,
  messageContent,
} from '../runtime/incoming-message.ts';
import { allSettledOrThrow, backoffMs, isOverdue, transientFailure } from '../runtime/retry.ts';
import type { Inbox } from './inbox.ts';

/** How long a process has a place for itself (ms), and how often it says that it still reads. */
const CLAIM_MS = 30_000;
const CLAIM_RENEW_INTERVAL_MS = 10_000;
/** A place that cannot be read for so long (ms) is given up; what is noted of it is kept no longer either. */
const GIVE_UP_AFTER_MS = 3 * 24 * 60 * 60_000;
/** Whoever looks for a lost post or the words before a question goes first. */
const LOWEST_PRIORITY = { order: 9, since: 0 };

/** What reading back needs beside the relay's parts. */
export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  workspaces(): readonly string[];
  /** Hears what became of each message, as for one that Slack delivered. */
  onOutcome: (
    admission: InboxOutcome,
    event: { workspace: string; channel: string; ts: string; person: string },
  ) => void;
}

/**
 * Reads back what was said in a gap of receiving: the newest thread first, one after the other, in the lane that
 * Slack allows for it. The inbox knows what it has already. What is left to read stands in the database, so another
 * process, or the next start, goes on with it.
 */
export class Backfill {
  readonly #deps: BackfillDeps;
  readonly #processId = randomUUID();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: BackfillDeps) {
    this.#deps = deps;
  }

  /** Reads what there is to read, unless it is at it. */
  trigger(): void {
    if (this.#stopping.signal.aborted) return;
    this.#running ??= this.#backfillAll()
      .catch((error: unknown) => {
        this.#deps.deps.log.debug({ err: error }, 'reading back stopped; it goes on with the next look');
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Stops and leaves the rest to others. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #backfillAll(): Promise<void> {
    const { backfills: catchUps } = this.#deps.deps.store;
    const renewTimer = setInterval(() => {
      // Where it fails, another process may read the same: the inbox takes each message once.
      catchUps.renewClaims(this.#processId, CLAIM_MS).catch(() => undefined);
    }, CLAIM_RENEW_INTERVAL_MS);
    try {
      const installed = new Set(this.#deps.workspaces());
      const waiting = (await catchUps.pendingWorkspaces()).filter((workspace) => installed.has(workspace));
      // One workspace in which Slack is slow or refuses the token keeps no other waiting.
      await allSettledOrThrow(waiting.map((workspace) => this.#backfillWorkspace(workspace)));
    } finally {
      clearInterval(renewTimer);
      await catchUps.renewClaims(this.#processId, 0);
    }
  }

  async #backfillWorkspace(workspace: string): Promise<void> {
    const { store, log } = this.#deps.deps;
    const total = { places: 0, recovered: 0 };
    while (!this.#stopping.signal.aborted) {
      const location = await store.backfills.claim(workspace, this.#processId, CLAIM_MS);
      if (location === undefined) break;
      const recovered = await this.#readWithRetry(location);
      await store.backfills.complete(location);
      total.places += 1;
      total.recovered += recovered;
      const { channel, root } = location;
      if (recovered > 0) log.info({ workspace, channel, root, recovered }, 'messages of the gap were found');
    }
    if (total.places > 0) log.info({ workspace, ...total }, 'what was said in the gap is read back');
  }

  /** Reads a place until that succeeds or cannot; the answer is how many messages were new. */
  async #readWithRetry(location: PendingBackfill): Promise<number> {
    const { signal } = this.#stopping;
    const { workspace, channel, root } = location;
    const since = new Date();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#readLocation(location);
      } catch (error) {
        signal.throwIfAborted();
        const wait = transientFailure(error);
        if (wait === undefined || isOverdue(since, GIVE_UP_AFTER_MS)) {
          this.#deps.deps.log.warn({ workspace, channel, root, err: error }, 'cannot be read back');
          return 0;
        }
        await sleep(Math.max(wait.waitMs ?? 0, backoffMs(attempt)), undefined, { signal });
      }
    }
  }

  async #readLocation(location: PendingBackfill): Promise<number> {
    const { deps, inbox, onOutcome } = this.#deps;
    const workspace = deps.workspace(location.workspace);
    if (workspace === undefined) return 0;
    let recovered = 0;
    for (const { message, replies } of await this.#missedMessages(workspace, location)) {
      const outcome = await inbox.accept({ kind: 'message', message }, workspace.bot);
      const { channel, ts, root, person } = message;
      onOutcome(outcome, { workspace: location.workspace, channel, ts, person });
      if (outcome.kind === 'admitted') recovered += 1;
      // A thread that nobody knew of when the gap was noted: what was said in it is missing too.
      const isTaken = outcome.kind === 'admitted' || outcome.kind === 'known';
      if (isTaken && replies)
        await deps.store.backfills.addThread({ workspace: location.workspace, channel, root }, ts);
    }
    return recovered;
  }

  /** People's messages of a place, oldest first. */
  async #missedMessages(
    workspace: WorkspaceClient,
    location: PendingBackfill,
  ): Promise<{ message: IncomingMessage; replies: boolean }[]> {
    const isChannel = location.root === CHANNEL_LEVEL;
    const { channel, since: oldest } = location;
    const { signal } = this.#stopping;
    const request = {
      channel,
      oldest,
      signal,
      rank: () => LOWEST_PRIORITY,
      ...(!isChannel && { threadTs: location.root }),
    };
    const found: { message: IncomingMessage; replies: boolean }[] = [];
    for await (const read of workspace.readBack.messages(request)) {
      const message = isEarlierTs(read.ts, oldest) ? undefined : toIncomingMessage(workspace, channel, read);
      if (message !== undefined) found.push({ message, replies: isChannel && (read.reply_count ?? 0) > 0 });
    }
    return isChannel ? found.reverse() : found;
  }
}

function toIncomingMessage(
  workspace: WorkspaceClient,
  channel: string,
  read: ThreadMessage,
): IncomingMessage | undefined {
  const { ts, user, bot_id, subtype } = read;
  if (
    user === undefined ||
    user === workspace.bot.userId ||
    bot_id !== undefined ||
    !isUserMessageSubtype(subtype)
  ) {
    return undefined;
  }
  return {
    workspace: workspace.id,
    channel,
    channelKind: isDirectChannel(channel) ? 'im' : 'unknown',
    ts,
    root: read.thread_ts ?? ts,
    person: user,
    content: messageContent(read),
  };
}
