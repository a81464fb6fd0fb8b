import { randomUUID } from 'node:crypto';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL, type PendingBackfill } from '../../store/slack/backfill-queue.ts';
import { isUserMessageSubtype } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
  messageContent,
} from '../runtime/incoming-message.ts';
import { Poller } from '../runtime/poller.ts';
import { allSettledOrThrow, withRetry } from '../runtime/retry.ts';
import type { Inbox } from './inbox.ts';

/** How long one process owns a location that it reads (ms), and how often it renews that claim. */
const CLAIM_MS = 30_000;
const CLAIM_RENEW_INTERVAL_MS = 10_000;
/** A location that has failed for this long (ms) is given up. Its row is kept no longer, either. */
const GIVE_UP_AFTER_MS = 3 * 24 * 60 * 60_000;
/** Reading for a lost post, or for the messages before a question, goes first. */
const LOWEST_PRIORITY = { order: 9, since: 0 };

export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  workspaces(): readonly string[];
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

/**
 * Reads the messages of a gap in receiving: the newest thread first, one at a time, within Slack's rate limit for
 * reading. The inbox ignores messages that it has. The work left is stored in the database, so another process or the
 * next start continues it.
 */
export class Backfill extends Poller {
  readonly #deps: BackfillDeps;
  readonly #processId = randomUUID();

  constructor(deps: BackfillDeps) {
    super({
      poll: () => this.#backfillAll(),
      onError: (error) =>
        deps.deps.log.debug({ err: error }, 'the backfill stopped; it continues at the next heartbeat'),
    });
    this.#deps = deps;
  }

  async #backfillAll(): Promise<void> {
    const { backfills } = this.#deps.deps.store;
    const installed = new Set(this.#deps.workspaces());
    const pending = (await backfills.pendingWorkspaces()).filter((workspace) => installed.has(workspace));
    if (pending.length === 0) return;
    const renewTimer = setInterval(() => {
      // If this fails, another process may read the same location: the inbox takes each message once.
      backfills.renewClaims(this.#processId, CLAIM_MS).catch(() => undefined);
    }, CLAIM_RENEW_INTERVAL_MS);
    try {
      // All at once: a workspace where Slack is slow or rejects the token must not delay the others.
      await allSettledOrThrow(pending.map((workspace) => this.#backfillWorkspace(workspace)));
    } finally {
      clearInterval(renewTimer);
      await backfills.renewClaims(this.#processId, 0);
    }
  }

  async #backfillWorkspace(workspace: string): Promise<void> {
    const { store, log } = this.#deps.deps;
    const total = { places: 0, recovered: 0 };
    while (!this.signal.aborted) {
      const location = await store.backfills.claim(workspace, this.#processId, CLAIM_MS);
      if (location === undefined) break;
      const recovered = await this.#readWithRetry(location);
      await store.backfills.complete(location);
      total.places += 1;
      total.recovered += recovered;
      const { channel, thread_ts } = location;
      if (recovered > 0) log.info({ workspace, channel, thread_ts, recovered }, 'recovered missed messages');
    }
    if (total.places > 0) log.info({ workspace, ...total }, 'backfill finished');
  }

  /** Reads a location, with retries. Returns how many messages were new; 0 where it was given up. */
  async #readWithRetry(location: PendingBackfill): Promise<number> {
    const { signal } = this;
    const unleased = { signal, draining: signal, remainingMs: () => Number.POSITIVE_INFINITY };
    const read = () => this.#readLocation(location);
    try {
      return await withRetry(unleased, read, () => undefined, { giveUpAfterMs: GIVE_UP_AFTER_MS });
    } catch (error) {
      signal.throwIfAborted();
      const { workspace, channel, thread_ts } = location;
      this.#deps.deps.log.warn({ workspace, channel, thread_ts, err: error }, 'backfill of a thread failed');
      return 0;
    }
  }

  async #readLocation(location: PendingBackfill): Promise<number> {
    const { deps, inbox, onOutcome } = this.#deps;
    const workspace = deps.workspace(location.workspace);
    if (workspace === undefined) return 0;
    let recovered = 0;
    for (const { message, hasReplies } of await this.#missedMessages(workspace, location)) {
      const outcome = await inbox.accept({ kind: 'message', message }, workspace.bot);
      const { channel, ts, thread_ts, person } = message;
      onOutcome(outcome, { workspace: location.workspace, channel, ts, person });
      if (outcome.kind === 'admitted') recovered += 1;
      // The thread was unknown when the gap was recorded, so its replies are missing, too.
      const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
      if (isOurs && hasReplies)
        await deps.store.backfills.addThread({ workspace: location.workspace, channel, thread_ts }, ts);
    }
    return recovered;
  }

  /** People's messages of a location, oldest first. */
  async #missedMessages(
    workspace: WorkspaceClient,
    location: PendingBackfill,
  ): Promise<{ message: IncomingMessage; hasReplies: boolean }[]> {
    const isChannel = location.thread_ts === CHANNEL_LEVEL;
    const { channel, since_ts: oldest } = location;
    const { signal } = this;
    const request = {
      channel,
      oldest,
      signal,
      priority: () => LOWEST_PRIORITY,
      ...(!isChannel && { threadTs: location.thread_ts }),
    };
    const found: { message: IncomingMessage; hasReplies: boolean }[] = [];
    for await (const read of workspace.readBack.messages(request)) {
      const message = isEarlierTs(read.ts, oldest) ? undefined : toIncomingMessage(workspace, channel, read);
      if (message !== undefined)
        found.push({ message, hasReplies: isChannel && (read.reply_count ?? 0) > 0 });
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
  const isPersons = user !== workspace.bot.userId && bot_id === undefined && isUserMessageSubtype(subtype);
  if (user === undefined || !isPersons) return undefined;
  return {
    workspace: workspace.id,
    channel,
    ts,
    thread_ts: read.thread_ts ?? ts,
    person: user,
    content: messageContent(read),
  };
}
