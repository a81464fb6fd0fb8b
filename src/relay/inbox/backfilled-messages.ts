import * as strings from '../../render/strings/index.ts';
import type { HistoryPage, ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { readMentions } from '../reading/addressing.ts';
import { isPersonsMessage, parseMessage } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
  messageContent,
} from '../runtime/incoming-message.ts';
import { transientFailure } from '../runtime/outage-waits.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import type { Inbox } from './inbox.ts';

/** What handing messages that were read back to the inbox takes. */
export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

type Written = Pick<IncomingMessage, 'channel' | 'ts' | 'person'>;

/** Which messages of a place are read back. */
export interface WantedMessages {
  /** Nothing before it is missing. */
  since_ts: string;
  /** Other messages than mentions are not for the bot. */
  mentions_only?: boolean | undefined;
  /** Only the message at `since_ts`: the inbox refused it, and the rest of its place went on without it. */
  is_single?: boolean | undefined;
}

/** Hands the messages of one place to the inbox. */
export class BackfilledMessages {
  readonly #backfill: BackfillDeps;
  readonly #workspace: WorkspaceClient;
  readonly #job: Job;

  constructor(backfill: BackfillDeps, workspace: WorkspaceClient, job: Job) {
    this.#backfill = backfill;
    this.#workspace = workspace;
    this.#job = job;
  }

  /** Applies the edits of waiting messages, and the deletions that left a tombstone; returns which messages the page lacks. */
  async applyChanges({ messages }: HistoryPage, waiting: readonly string[]): Promise<string[]> {
    const unseen = new Set(waiting);
    for (const read of messages) {
      if (!unseen.delete(read.ts)) continue;
      const message = read.edited && this.#toIncomingMessage(read);
      if (read.subtype === 'tombstone') await this.withdraw(read.ts);
      else if (message !== undefined && read.edited !== undefined)
        await this.#acceptChange({ kind: 'edit', message, editedTs: read.edited.ts }, message);
    }
    return [...unseen];
  }

  /** Withdraws a waiting message that was deleted in Slack. */
  async withdraw(ts: string): Promise<void> {
    const { channel, thread_ts } = this.#job;
    const at = { workspace: this.#workspace.id, channel, thread_ts, ts };
    const outcome = await this.#acceptChange(
      { kind: 'deletion', ...at, person: undefined },
      { ...at, person: '' },
    );
    if (outcome?.kind === 'withdrawn')
      this.#backfill.deps.log.info(at, 'a waiting message was deleted in Slack');
  }

  /** Hands a page's messages to the inbox. One that it refuses becomes a place of its own, which is tried again. */
  async takeIn(wanted: WantedMessages, page: HistoryPage, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#backfill.deps;
    const { id: workspace } = this.#workspace;
    const { channel } = this.#job;
    let recovered = 0;
    let hasFailed = false;
    for (const { message, hasReplies } of this.#peoplesMessages(wanted, page)) {
      signal.throwIfAborted();
      try {
        const outcome = await this.#accept({ kind: 'message', message }, message);
        const { ts, thread_ts } = message;
        if (outcome.kind === 'admitted') recovered += 1;
        // The thread was unknown when the gap was recorded, so its replies are missing, too.
        const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
        if (isOurs && hasReplies) await store.backfills.addThread({ workspace, channel, thread_ts }, ts);
      } catch (error) {
        const isLasting = transientFailure(error) === undefined;
        // One statement may take too long by itself; two in a page are an outage.
        if (signal.aborted || wanted.is_single === true || (!isLasting && hasFailed)) throw error;
        hasFailed ||= !isLasting;
        await this.#passOver(message, error);
      }
    }
    if (recovered > 0) log.info({ workspace, channel, recovered }, 'recovered missed messages');
  }

  /** Hands an event to the inbox, and its outcome on. */
  async #accept(event: InboxEvent, { channel, ts, person }: Written): Promise<InboxOutcome> {
    const { inbox, onOutcome } = this.#backfill;
    const { id: workspace, bot } = this.#workspace;
    const outcome = await inbox.accept(event, bot);
    onOutcome(outcome, { workspace, channel, ts, person });
    return outcome;
  }

  /** Hands the change of a waiting message to the inbox. One that it refuses leaves that message as it was. */
  async #acceptChange(event: InboxEvent, message: Written): Promise<InboxOutcome | undefined> {
    try {
      return await this.#accept(event, message);
    } catch (error) {
      if (transientFailure(error) !== undefined) throw error;
      const { channel, ts } = message;
      const lost = { workspace: this.#workspace.id, channel, ts, err: error };
      this.#backfill.deps.log.error(lost, 'the change of a waiting message is lost');
      return undefined;
    }
  }

  /** Has a message tried again by itself. In an outage, this throws a StoreError: then all wait. */
  async #passOver(message: IncomingMessage, error: unknown): Promise<void> {
    const { deps } = this.#backfill;
    const { workspace, channel, thread_ts, ts, person } = message;
    const isNew = await deps.store.backfills.addMessage({ workspace, channel, thread_ts }, ts);
    const about = { workspace, channel, thread_ts, ts, err: error };
    deps.log.warn(about, 'a message read back cannot be recorded');
    if (!isNew || transientFailure(error) !== undefined) return;
    const threadTs = thread_ts === ts ? undefined : thread_ts;
    trySendEphemeral(deps, { workspace, channel, person, threadTs }, strings.messageGivenUp);
  }

  /** People's messages of a page, oldest first. */
  #peoplesMessages(
    { since_ts, mentions_only: onlyMentions = false, is_single: isSingle = false }: WantedMessages,
    { messages }: HistoryPage,
  ): { message: IncomingMessage; hasReplies: boolean }[] {
    const isChannel = this.#job.thread_ts === CHANNEL_LEVEL;
    const found = messages.flatMap((read) => {
      const message = isEarlierTs(read.ts, since_ts) ? undefined : this.#toIncomingMessage(read);
      if (onlyMentions && !readMentions(parseMessage(read), this.#workspace.bot.userId).mentionsBot)
        return [];
      const hasReplies = (isChannel || isSingle) && (read.reply_count ?? 0) > 0;
      return message === undefined ? [] : [{ message, hasReplies }];
    });
    return isChannel ? found.reverse() : found;
  }

  #toIncomingMessage(read: ThreadMessage): IncomingMessage | undefined {
    const { ts, user, bot_id } = read;
    const { id: workspace, bot } = this.#workspace;
    const isPersons = user !== bot.userId && bot_id === undefined && isPersonsMessage(read);
    if (user === undefined || !isPersons) return undefined;
    const thread_ts = read.thread_ts ?? ts;
    const content = messageContent(read);
    return { workspace, channel: this.#job.channel, ts, thread_ts, person: user, content };
  }
}
