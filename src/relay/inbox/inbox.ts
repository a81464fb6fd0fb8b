import type { ThreadKey } from '../../store/keys.ts';
import type { EarlyEdit } from '../../store/threads/messages.ts';
import { isBotId } from '../access/access-policy.ts';
import { readMentions } from '../reading/mentions.ts';
import { type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { isStopWord } from '../reading/stop-word.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
} from '../runtime/incoming-message.ts';
import { type StopMessageDeps, StopMessages } from './stop-messages.ts';

/** What the inbox needs. */
export interface InboxDeps extends StopMessageDeps {
  /** Puts a job for the thread into the queue, soon: whatever waits without one is found by upkeep. */
  enqueue: (thread: ThreadKey) => void;
  /** The service account that a workspace's new threads go to. */
  accountOf(workspace: string): string;
}

/**
 * Writes arrivals down before Slack is acknowledged: the dedupe row, the thread and the waiting message in one
 * statement. The thread's job follows at once; it is only a token, and a notification inside of the statement would
 * make all commits of the database wait for each other.
 */
export class Inbox {
  readonly #deps: InboxDeps;
  readonly #stopMessages: StopMessages;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
    this.#stopMessages = new StopMessages(deps);
  }

  /** Takes one arrival in; throws only where the store could not be written, so that Slack sends it again. */
  async accept(event: InboxEvent, bot: { userId: string }): Promise<InboxOutcome> {
    switch (event.kind) {
      case 'silence':
        return { kind: 'ignored', why: event.why };
      case 'message':
        return this.#acceptMessage(event.message, bot, null);
      case 'edit':
        return this.#acceptEdit(event.message, bot, event.editedTs);
      case 'deletion':
        return this.#acceptDeletion(event);
      case 'renaming':
        return this.#acceptRename(event);
    }
  }

  async #acceptMessage(
    message: IncomingMessage,
    bot: { userId: string },
    editedTs: string | null,
  ): Promise<InboxOutcome> {
    const { store, enqueue } = this.#deps;
    const { workspace, channel, root, ts } = message;
    const thread: ThreadKey = { workspace, channel, root };
    let earlyEdit: EarlyEdit | undefined;
    for (;;) {
      const content = earlyEdit?.words ?? message.content;
      const read = parseMessage(content);
      const relevance = relevanceOf(message, read, bot);
      // What is edited was there before: it begins a thread only where it speaks to us by now.
      const isHeardInChannel =
        relevance === 'if_all' && editedTs === null && (await this.#listensToEverything(workspace, channel));
      const isAddressed = relevance === 'ours' || isHeardInChannel;
      if (!isAddressed && relevance !== 'if_ours') return { kind: 'ignored', why: 'not addressed to us' };
      const stopOutcome = isStopWord(read, bot.userId)
        ? await this.#stopMessages.accept({ ...message, content }, isAddressed)
        : undefined;
      if (stopOutcome !== undefined) return stopOutcome;
      const { decision, held: isPaused } = await store.inbox.write({
        ...thread,
        ts,
        person: message.person,
        words: content,
        editedTs: earlyEdit?.edited_ts ?? editedTs,
        account: this.#deps.accountOf(workspace),
        addressed: isAddressed,
        appliedEdit: earlyEdit,
      });
      switch (decision) {
        case 'changed':
          earlyEdit = await store.messages.earlyEdit({ workspace, channel, ts });
          continue;
        case 'stray':
        case 'known':
        case 'withdrawn':
          return { kind: decision };
        default:
          enqueue(thread);
          return { kind: 'admitted', thread, isQueued: decision === 'waits', isPaused };
      }
    }
  }

  async #acceptEdit(
    message: IncomingMessage,
    bot: { userId: string },
    editedTs: string,
  ): Promise<InboxOutcome> {
    const { workspace, channel, root, ts } = message;
    const key = { workspace, channel, ts };
    const outcome = await this.#deps.store.transaction(async (store): Promise<InboxOutcome | undefined> => {
      await store.threads.lock({ workspace, channel, root });
      const known = await store.messages.get(key);
      if (known === undefined) {
        const change = { deleted: false, words: message.content, edited_ts: editedTs };
        await store.messages.recordEarlyEdit(key, change);
        return undefined;
      }
      if (await store.messages.updateContent(key, message.content, editedTs)) return { kind: 'reworded' };
      if (known.state === 'withdrawn') return { kind: 'ignored', why: 'an edit of a message taken back' };
      if (known.state === 'refused') return { kind: 'ignored', why: 'an edit of a message that was refused' };
      const isOld = known.edited_ts !== null && !isEarlierTs(known.edited_ts, editedTs);
      if (isOld) return { kind: 'known' };
      // Kept for the button that sends the correction.
      const change = { deleted: false, words: message.content, edited_ts: editedTs };
      await store.messages.recordEarlyEdit(key, change);
      return { kind: 'too_late', change: 'edit' };
    });
    // An edit that adds a mention starts a turn; so does one whose message has not arrived yet.
    return outcome ?? this.#acceptMessage(message, bot, editedTs);
  }

  /** Read anew for each message, so that a change holds from the next one on, in every process. */
  async #listensToEverything(workspace: string, channel: string): Promise<boolean> {
    return (await this.#deps.store.channelSettings.get(workspace, channel)).listens === 'everything';
  }

  async #acceptRename({
    workspace,
    channel,
  }: Extract<InboxEvent, { kind: 'renaming' }>): Promise<InboxOutcome> {
    const follows = await this.#deps.store.projectNames.markDue(workspace, channel);
    return follows ? { kind: 'renamed' } : { kind: 'ignored', why: 'no project follows the name' };
  }

  async #acceptDeletion(event: Extract<InboxEvent, { kind: 'deletion' }>): Promise<InboxOutcome> {
    const { workspace, channel, root, ts } = event;
    const key = { workspace, channel, ts };
    return this.#deps.store.transaction(async (store) => {
      await store.threads.lock({ workspace, channel, root });
      const known = await store.messages.get(key);
      if (known === undefined) {
        await store.messages.recordEarlyEdit(key, { deleted: true, words: null, edited_ts: null });
        return { kind: 'ignored', why: 'a deletion before its message' };
      }
      if (await store.messages.withdraw(key)) return { kind: 'withdrawn' };
      if (known.state === 'withdrawn' || known.state === 'refused') return { kind: 'known' };
      // Obeyed where the service does not take it, and it would wait again.
      if (known.state === 'sending')
        await store.messages.recordEarlyEdit(key, { deleted: true, words: null, edited_ts: null });
      return { kind: 'too_late', change: 'deletion' };
    });
  }
}

/** For us as it stands, only where its thread is ours, only where its channel's every message is, or not at all. */
type Relevance = 'ours' | 'if_ours' | 'if_all' | 'none';

function relevanceOf(message: IncomingMessage, read: ParsedMessage, bot: { userId: string }): Relevance {
  const mentioned = readMentions(read, bot.userId);
  // What bots say to each other would never end.
  if (isBotId(message.person) && !mentioned.mentionsBot) return 'none';
  if (mentioned.mentionsBot || message.channelKind === 'im') return 'ours';
  if (mentioned.startsWithOtherPerson) return 'none';
  return message.root === message.ts ? 'if_all' : 'if_ours';
}
