import { type ListenMode, type MessageContent, type ThreadKey, threadKeyText } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { EarlyEdit } from '../../store/threads/inbox.ts';
import { addresseeOf } from '../reading/addressing.ts';
import { parseMessage } from '../reading/message-parser.ts';
import { isSameAsWritten } from '../reading/message-to-markdown.ts';
import type { StopOutcome } from '../runtime/control-request.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
} from '../runtime/incoming-message.ts';
import { moveChannel } from './channel-move.ts';
import { listenTo } from './listening.ts';
import { acceptStopWord, isStopWord } from './stop-word.ts';

/** A mention from so long before the bot joined its channel (ms) is answered. */
const MENTIONED_BEFORE_MS = 10 * 60_000;

export interface InboxDeps {
  store: Store;
  /** Which replies in threads that people began are for the agent, where no workspace or channel says so. */
  settings: { readonly listenMode: ListenMode };
  /** Stops a thread's agent, for the word stop. It may be called twice for one message. */
  onStopMessage: (message: IncomingMessage) => Promise<StopOutcome>;
  /** How many days the rows of messages are kept: an older message without one may have had its turn. */
  rowsKeptDays: number;
  /** Queues a job for the thread soon; `isNew`: it had no work before. Maintenance finds messages whose job was lost. */
  enqueue: (thread: ThreadKey, isNew: boolean) => void;
  /** The service account that a workspace's new threads use. */
  accountOf(workspace: string): string;
}

/**
 * Writes down what people say before Slack is acknowledged: the dedupe row, the thread and the waiting message in one
 * statement. The thread's job follows at once. It is not part of the statement, because a notification in it would make
 * every commit of the database wait for the others.
 */
export class Inbox {
  readonly #deps: InboxDeps;
  /** The newest reply that is being taken in, by thread: who wrote last decides whom the next one is for. */
  readonly #newestReplies = new Map<string, Promise<InboxOutcome>>();

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Takes in one event. Throws only if the store could not be written, so that Slack sends the event again. */
  async accept(event: InboxEvent, bot: { userId: string }): Promise<InboxOutcome> {
    switch (event.kind) {
      case 'ignored':
        return event;
      case 'message':
        return this.#inOrder(event.message, () => this.#acceptMessage(event.message, bot, null));
      case 'edit':
        return this.#acceptEdit(event, bot);
      case 'deletion':
        return this.#acceptDeletion(event);
      case 'renaming': {
        const follows = await this.#deps.store.projects.wantNames(event.workspace, event.channel);
        return follows ? { kind: 'renamed' } : { kind: 'ignored', why: 'no project follows the name' };
      }
      case 'move':
        await moveChannel(this.#deps.store, event);
        return { kind: 'moved' };
      case 'joining': {
        const since = ((Date.now() - MENTIONED_BEFORE_MS) / 1_000).toFixed(6);
        await this.#deps.store.backfills.addMentions(event, since);
        return { kind: 'joined' };
      }
    }
  }

  async #inOrder(message: IncomingMessage, accept: () => Promise<InboxOutcome>): Promise<InboxOutcome> {
    if (message.thread_ts === message.ts) return accept();
    const name = threadKeyText(message);
    const previous = this.#newestReplies.get(name);
    const current = previous === undefined ? accept() : previous.then(accept, accept);
    this.#newestReplies.set(name, current);
    return current.finally(() => {
      if (this.#newestReplies.get(name) === current) this.#newestReplies.delete(name);
    });
  }

  async #acceptMessage(
    message: IncomingMessage,
    bot: { userId: string },
    editedTs: string | null,
  ): Promise<InboxOutcome> {
    const { store, enqueue } = this.#deps;
    const { workspace, channel, thread_ts, ts } = message;
    const thread: ThreadKey = { workspace, channel, thread_ts };
    let earlyEdit: EarlyEdit | undefined;
    for (;;) {
      const content = earlyEdit?.content ?? message.content;
      const parsed = parseMessage(content);
      const isMention = content.text === message.content.text && message.isMention === true;
      const addressee = addresseeOf({ ...message, isMention }, parsed, bot.userId);
      const { isAddressed, state } = await listenTo(this.#deps, message, addressee);
      if (state === undefined) return { kind: 'ignored', why: 'not addressed to us' };
      const stopOutcome = isStopWord(parsed, bot.userId)
        ? await acceptStopWord(this.#deps, { ...message, content }, isAddressed, earlyEdit)
        : undefined;
      if (stopOutcome !== undefined) return stopOutcome;
      const { decision, is_paused: isPaused } = await store.inbox.write({
        ...thread,
        ts,
        user_id: message.person,
        content,
        state,
        edited_ts: earlyEdit?.edited_ts ?? editedTs,
        account_id: this.#deps.accountOf(workspace),
        is_addressed: isAddressed,
        appliedEdit: earlyEdit,
      });
      switch (decision) {
        case 'changed':
          earlyEdit = await store.earlyEdits.get({ workspace, channel, ts });
          if (earlyEdit?.content === null && !earlyEdit.is_deletion)
            return store.transaction((trx) => setAside(trx, message));
          continue;
        case 'orphan':
        case 'known':
        case 'withdrawn':
          return { kind: decision };
        case 'unsent':
          if (addressee === 'others') return { kind: 'ignored', why: 'addressed to others' };
          return { kind: decision, thread };
        default:
          enqueue(thread, decision === 'next');
          return { kind: 'admitted', thread, isQueued: decision === 'waits', isPaused };
      }
    }
  }

  async #acceptEdit(
    { message, editedTs, before }: Extract<InboxEvent, { kind: 'edit' }>,
    bot: { userId: string },
  ): Promise<InboxOutcome> {
    const { workspace, channel, thread_ts, ts } = message;
    const key = { workspace, channel, ts };
    const edit = { is_deletion: false, content: message.content, edited_ts: editedTs };
    const edited = parseMessage(message.content);
    const addressee = addresseeOf(message, edited, bot.userId);
    // A mention's copy does not say what was there before the edit; the other copy does.
    const addsMention =
      addressee === 'bot' && before !== undefined && !isAddressedBy(message, before, bot.userId);
    const isExpired = Number(ts) * 1_000 < Date.now() - this.#deps.rowsKeptDays * 86_400_000;
    const { state } = await listenTo(this.#deps, message, addressee);
    const outcome = await this.#deps.store.transaction(async (store): Promise<InboxOutcome | undefined> => {
      await store.threads.lock({ workspace, channel, thread_ts });
      const known = await store.messages.get(key);
      if (known === undefined && isExpired)
        return { kind: 'ignored', why: 'an edit of a message of long ago' };
      const kept = await store.earlyEdits.get(key);
      if (known === undefined || (known.state === 'unsent' && addsMention)) {
        await store.messages.remove(key);
        // Of what people say to each other, only the ids are kept: the message may still arrive as it was.
        const isForUs = state === 'waiting';
        await store.earlyEdits.record(key, isForUs ? edit : { ...edit, content: null }, message.person);
        if (addsMention) return undefined;
        return isForUs ? { kind: 'ignored', why: 'its message is yet to come' } : setAside(store, message);
      }
      if (await store.messages.updateContent(key, message.content, editedTs)) return { kind: 'reworded' };
      if (known.state === 'unsent') return { kind: 'ignored', why: 'an edit of a message that was not sent' };
      if (known.state === 'withdrawn') return { kind: 'ignored', why: 'an edit of a deleted message' };
      if (known.state === 'refused') return { kind: 'ignored', why: 'an edit of a message that was refused' };
      const isOld = known.edited_ts !== null && !isEarlierTs(known.edited_ts, editedTs);
      const isKept = kept?.edited_ts != null && !isEarlierTs(kept.edited_ts, editedTs);
      // An edit comes twice, as a mention and as a change; as a mention even if its text did not change.
      const isSame = known.content !== null && isSameAsWritten(parseMessage(known.content), edited);
      const isUnchanged = kept === undefined && isSame;
      if (isOld || isKept || isUnchanged) return { kind: 'known' };
      // Kept for the button that sends the correction.
      await store.earlyEdits.record(key, edit, message.person);
      return { kind: 'too_late', change: 'edit' };
    });
    // It adds a mention.
    return outcome ?? this.#acceptMessage(message, bot, editedTs);
  }

  async #acceptDeletion(event: Extract<InboxEvent, { kind: 'deletion' }>): Promise<InboxOutcome> {
    const { workspace, channel, thread_ts, ts } = event;
    const key = { workspace, channel, ts };
    const deletion = { is_deletion: true, content: null, edited_ts: null };
    return this.#deps.store.transaction(async (store) => {
      await store.threads.lock({ workspace, channel, thread_ts });
      const known = await store.messages.get(key);
      if (known === undefined || known.state === 'unsent') {
        await store.messages.remove(key);
        await store.earlyEdits.record(key, deletion);
        return { kind: 'ignored', why: 'a deletion of a message that we do not have' };
      }
      // In Slack, its reactions are gone with it.
      await store.messages.setWaitingReaction(key, false);
      if (await store.messages.withdraw(key)) return { kind: 'withdrawn' };
      if (known.state === 'withdrawn' || known.state === 'refused') return { kind: 'known' };
      // Applied if the service rejects the message and it waits again. It may have been frozen since it was read.
      if (known.state === 'sending' || known.state === 'waiting')
        await store.earlyEdits.record(key, deletion);
      return { kind: 'too_late', change: 'deletion' };
    });
  }
}

/** Whether a message addressed the bot already before its edit. */
function isAddressedBy(message: IncomingMessage, before: MessageContent, botUser: string): boolean {
  return addresseeOf({ ...message, isMention: false }, parseMessage(before), botUser) === 'bot';
}

/** Drops a message whose edit is not for us. A reply may concern us once its thread does: its ids are kept. */
async function setAside(store: Store, message: IncomingMessage): Promise<InboxOutcome> {
  const { workspace, channel, thread_ts, ts } = message;
  const thread = { workspace, channel, thread_ts };
  await store.threads.lock(thread);
  if ((await store.messages.get({ workspace, channel, ts })) !== undefined) return { kind: 'known' };
  if (thread_ts === ts) return { kind: 'ignored', why: 'not addressed to us since its edit' };
  await store.orphanReplies.add(thread, ts);
  return { kind: 'orphan' };
}
