import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import type { JobClaim } from '../../store/jobs/jobs.ts';
import { type ThreadKey, threadKeyText } from '../../store/schema.ts';
import type { InboxDecision, PendingEdit } from '../../store/threads/inbox.ts';
import { certainClosingAt, type PlaceDeps } from '../access/access-policy.ts';
import { addresseeOf, listenTo } from '../reading/listening.ts';
import { parseMessage } from '../reading/message-parser.ts';
import {
  isLaterEdit,
  type MessageVersion,
  mergedVersions,
  withoutFiles,
} from '../reading/message-versions.ts';
import type { StopOutcome } from '../runtime/control-request.ts';
import type { RelaySettings } from '../runtime/deps.ts';
import type { InboxEvent, InboxOutcome, IncomingMessage } from '../runtime/incoming-message.ts';
import { moveChannel } from './channel-move.ts';
import {
  acceptDeletion,
  acceptEdit,
  acceptVersion,
  isPartial,
  NOT_ANSWERED,
  setAside,
} from './edits-and-deletions.ts';
import { acceptStop, stopIn } from './stop-word.ts';

/** How soon the other copy of a mention follows the first one (ms). */
const ADMITTED_MS = 10_000;
/** A mention that may lack files waits so long (ms): its whole copy mostly comes first then, and one statement writes both. */
const OTHER_COPY_MS = 50;
/** A mention from so long before the bot joined its channel (ms) is answered. */
const MENTIONED_BEFORE_MS = 10 * 60_000;

export interface InboxDeps extends PlaceDeps {
  settings: Pick<RelaySettings, 'listenMode' | 'answers' | 'stopWords' | 'lookupMs'>;
  /** Stops a thread's agent, for the word stop. It may be called twice for one message. */
  onStopMessage: (message: IncomingMessage) => Promise<StopOutcome>;
  /** How many days the rows of messages are kept: an older message without one may have had its turn. */
  rowsKeptDays: number;
  /** Records a message with the job of its thread, which begins at once if it has the claim. */
  recordJob: (write: (claim: JobClaim | undefined) => Promise<InboxDecision>) => Promise<InboxDecision>;
  accountOf(workspace: string): string;
}

/**
 * Writes down what people say before Slack is acknowledged: the dedupe row, the thread, the message and the
 * thread's job in one statement.
 */
export class Inbox {
  readonly #deps: InboxDeps;
  /** The newest message that is being taken in, by thread: who wrote last decides whom the next one is for. */
  readonly #newest = new Map<string, Promise<InboxOutcome>>();
  /** The messages that were written down in the last seconds, as they came: Slack sends a mention twice. */
  readonly #admitted = new LRUCache<string, IncomingMessage>({
    max: 1_000,
    ttl: ADMITTED_MS,
    ttlAutopurge: true,
  });

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Takes in one event. Throws only if the store could not be written, so that Slack sends the event again. */
  async accept(event: InboxEvent, bot: { userId: string }): Promise<InboxOutcome> {
    switch (event.kind) {
      case 'ignored':
        return event;
      case 'message':
        if (isPartial(event.message)) await sleepUnlessAborted(OTHER_COPY_MS);
        return this.#inOrder(event.message, () => this.#acceptOnce(event.message, bot));
      case 'edit':
      case 'version': {
        const accept = event.kind === 'edit' ? acceptEdit : acceptVersion;
        const asMessage = () => this.#acceptMessage(event.message, bot, event.editedTs);
        return (await accept(this.#deps, event, bot)) ?? this.#inOrder(event.message, asMessage);
      }
      case 'deletion':
        return acceptDeletion(this.#deps, event);
      case 'renaming':
        await this.#deps.store.projects.wantNames(event.workspace, event.channel);
        return { kind: 'recorded' };
      case 'channel_deletion':
        await this.#deps.store.settings.delete(event.workspace, event.channel);
        return { kind: 'recorded' };
      case 'move':
        await moveChannel(this.#deps.store, event);
        return { kind: 'recorded' };
      case 'joining': {
        const since = ((Date.now() - MENTIONED_BEFORE_MS) / 1_000).toFixed(6);
        await this.#deps.store.backfills.addMentions(event, since);
        await this.#deps.store.channels.wantWelcome(event.workspace, event.channel);
        return { kind: 'recorded' };
      }
    }
  }

  /** A thread's messages, one after another: a locked thread keeps one connection busy and no other thread waiting. */
  async #inOrder(message: IncomingMessage, accept: () => Promise<InboxOutcome>): Promise<InboxOutcome> {
    const name = threadKeyText(message);
    const previous = this.#newest.get(name);
    const current = previous === undefined ? accept() : previous.then(accept, accept);
    this.#newest.set(name, current);
    return current.finally(() => {
      if (this.#newest.get(name) === current) this.#newest.delete(name);
    });
  }

  /** Takes in a message, unless this process has just written down its other copy. */
  async #acceptOnce(message: IncomingMessage, bot: { userId: string }): Promise<InboxOutcome> {
    const name = `${message.workspace}/${message.channel}/${message.ts}`;
    const admitted = this.#admitted.get(name);
    if (admitted !== undefined && addsNothing(admitted, message)) return { kind: 'known' };
    const outcome = await this.#acceptMessage(message, bot, null);
    if (outcome.kind === 'admitted') this.#admitted.set(name, message);
    return outcome;
  }

  async #acceptMessage(
    said: IncomingMessage,
    bot: { userId: string },
    editedTs: string | null,
  ): Promise<InboxOutcome> {
    const { store, recordJob } = this.#deps;
    const message = await this.#withoutRootFiles(said);
    const { workspace, channel, thread_ts, ts } = message;
    const thread: ThreadKey = { workspace, channel, thread_ts };
    const asSaid = { content: message.content, edited_ts: editedTs ?? message.editedTs ?? null };
    let pendingEdit: PendingEdit | undefined;
    const { channels, directMessages, groupMessages } = this.#deps.settings.answers;
    // Where the operator limits nothing, the statement that writes sees whether people do.
    let isPlaceChecked = channels !== undefined || !directMessages || !groupMessages;
    for (;;) {
      const { content, edited_ts } = withPendingEdit(asSaid, pendingEdit);
      const parsed = parseMessage(content);
      const isMention = content.text === message.content.text && message.isMention === true;
      const addressee = addresseeOf({ ...message, isMention }, parsed, bot.userId);
      const { isAddressed, state } = await listenTo(this.#deps, message, addressee);
      if (state === undefined) return { kind: 'ignored', why: 'not addressed to us' };
      const stop = addressee !== 'others' && stopIn(parsed, bot.userId, this.#deps.settings.stopWords);
      const mayStop = stop === 'word' || (stop === 'phrase' && state === 'waiting');
      isPlaceChecked ||= mayStop;
      const notHere = async (): Promise<InboxOutcome | undefined> => {
        const by = isPlaceChecked ? await certainClosingAt(this.#deps, message) : undefined;
        if (by === undefined) return undefined;
        return state === 'waiting' && addressee !== 'channel' ? { kind: 'closed', thread, by } : NOT_ANSWERED;
      };
      const how = { isAddressed, isPhrase: stop === 'phrase' };
      const stopped = async () =>
        mayStop ? acceptStop(this.#deps, { ...message, content }, how, pendingEdit) : undefined;
      // A stop works everywhere.
      const [first, second] = mayStop && state !== null ? [stopped, notHere] : [notHere, stopped];
      const outcome = (await first()) ?? (await second());
      if (outcome !== undefined) return outcome;
      const arrived = {
        ...thread,
        ts,
        user_id: message.person,
        content,
        state,
        edited_ts,
        account_id: this.#deps.accountOf(workspace),
        is_addressed: isAddressed,
        is_partial: content === message.content && isPartial(message),
        client_msg_id: message.clientId ?? null,
        appliedEdit: pendingEdit,
        is_place_checked: isPlaceChecked,
      };
      const write = (claim: JobClaim | undefined) => store.inbox.write({ ...arrived, claim });
      const { decision, is_paused, known_ts } = await recordJob(write);
      switch (decision) {
        case 'limited':
          isPlaceChecked = true;
          continue;
        case 'changed':
          pendingEdit = await store.pendingEdits.get({ workspace, channel, ts });
          if (pendingEdit !== undefined && lacksEdit(asSaid, pendingEdit))
            return store.transaction((trx) => setAside(trx, message));
          continue;
        case 'known':
          return (
            (await acceptVersion(this.#deps, { message, editedTs }, bot, known_ts ?? ts)) ?? {
              kind: decision,
            }
          );
        case 'orphan':
        case 'withdrawn':
          return { kind: decision };
        case 'unsent':
          if (addressee === 'others') return { kind: 'ignored', why: 'addressed to others' };
          return { kind: decision, thread };
        default:
          return { kind: 'admitted', thread, isQueued: decision === 'waits', isPaused: is_paused };
      }
    }
  }

  /** A reply without the files of its thread's root, which Slack may repeat in its events. */
  async #withoutRootFiles(message: IncomingMessage): Promise<IncomingMessage> {
    const { content, ts, thread_ts, sharesFiles } = message;
    if (content.files === undefined || ts === thread_ts || sharesFiles === true) return message;
    const repeated = (await this.#deps.store.threads.get(message))?.root_file_ids ?? [];
    return { ...message, content: withoutFiles(content, repeated) };
  }
}

function withPendingEdit(said: MessageVersion, edit: PendingEdit | undefined): MessageVersion {
  if (edit?.content == null) return said;
  return mergedVersions(said, { content: edit.content, edited_ts: edit.edited_ts });
}

/** Whether a message is older than an edit of which no words were kept. What is read back from Slack has that edit. */
function lacksEdit({ edited_ts }: MessageVersion, { is_deletion, content, edited_ts: edit }: PendingEdit) {
  if (is_deletion || content !== null) return false;
  return edited_ts === null || isLaterEdit(edit, edited_ts);
}

function addsNothing(first: IncomingMessage, second: IncomingMessage): boolean {
  if (isPartial(first) && !isPartial(second)) return false;
  const known = { content: first.content, edited_ts: null };
  return isDeepStrictEqual(mergedVersions(known, { ...known, content: second.content }), known);
}
