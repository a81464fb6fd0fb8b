import type { ThreadKey } from '../../store/keys.ts';
import type { EarlyChange } from '../../store/messages.ts';
import { isBotId } from '../admitting/admittance.ts';
import { mentions } from '../reading/mentions.ts';
import { type MessageToRead, readMessage } from '../reading/message.ts';
import { isStopWord } from '../reading/stop-word.ts';
import { type Admission, type Arrival, isEarlier, type PersonMessage } from './arrivals.ts';
import { type StopWordParts, StopWords } from './stop-words.ts';

/** What the inbox needs. */
export interface InboxParts extends StopWordParts {
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
  readonly #parts: InboxParts;
  readonly #stopWords: StopWords;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#stopWords = new StopWords(parts);
  }

  /** Takes one arrival in; throws only where the store could not be written, so that Slack sends it again. */
  async accept(arrival: Arrival, bot: { userId: string }): Promise<Admission> {
    switch (arrival.kind) {
      case 'silence':
        return { kind: 'ignored', why: arrival.why };
      case 'message':
        return this.#message(arrival.message, bot, null);
      case 'edit':
        return this.#edit(arrival.message, bot, arrival.editedTs);
      case 'deletion':
        return this.#deletion(arrival);
      case 'renaming':
        return this.#renaming(arrival);
    }
  }

  async #message(
    message: PersonMessage,
    bot: { userId: string },
    editedTs: string | null,
  ): Promise<Admission> {
    const { store, enqueue } = this.#parts;
    const { workspace, channel, root, ts } = message;
    const thread: ThreadKey = { workspace, channel, root };
    let obeyed: EarlyChange | undefined;
    for (;;) {
      const words = obeyed?.words ?? message.words;
      const read = readMessage(words);
      const concerned = concern(message, read, bot);
      // What is edited was there before: it begins a thread only where it speaks to us by now.
      const heard = concerned === 'if_all' && editedTs === null && (await this.#hearsAll(workspace, channel));
      const addressed = concerned === 'ours' || heard;
      if (!addressed && concerned !== 'if_ours') return { kind: 'ignored', why: 'not addressed to us' };
      const said = isStopWord(read, bot.userId)
        ? await this.#stopWords.accept({ ...message, words }, addressed)
        : undefined;
      if (said !== undefined) return said;
      const { decision, held } = await store.admissions.admit({
        ...thread,
        ts,
        person: message.person,
        words,
        editedTs: obeyed?.edited_ts ?? editedTs,
        account: this.#parts.accountOf(workspace),
        addressed,
        obeyed,
      });
      switch (decision) {
        case 'changed':
          obeyed = await store.messages.earlyChange({ workspace, channel, ts });
          continue;
        case 'stray':
        case 'known':
        case 'withdrawn':
          return { kind: decision };
        default:
          enqueue(thread);
          return { kind: 'admitted', thread, waits: decision === 'waits', held };
      }
    }
  }

  async #edit(message: PersonMessage, bot: { userId: string }, editedTs: string): Promise<Admission> {
    const { workspace, channel, root, ts } = message;
    const key = { workspace, channel, ts };
    const outcome = await this.#parts.store.transaction(async (store): Promise<Admission | undefined> => {
      await store.threads.lock({ workspace, channel, root });
      const known = await store.messages.get(key);
      if (known === undefined) {
        const change = { deleted: false, words: message.words, edited_ts: editedTs };
        await store.messages.noteEarlyChange(key, change);
        return undefined;
      }
      if (await store.messages.reword(key, message.words, editedTs)) return { kind: 'reworded' };
      if (known.state === 'withdrawn') return { kind: 'ignored', why: 'an edit of a message taken back' };
      if (known.state === 'refused') return { kind: 'ignored', why: 'an edit of a message that was refused' };
      const isOld = known.edited_ts !== null && !isEarlier(known.edited_ts, editedTs);
      if (isOld) return { kind: 'known' };
      // Kept for the button that sends the correction.
      const change = { deleted: false, words: message.words, edited_ts: editedTs };
      await store.messages.noteEarlyChange(key, change);
      return { kind: 'too_late', change: 'edit' };
    });
    // An edit that adds a mention starts a turn; so does one whose message has not arrived yet.
    return outcome ?? this.#message(message, bot, editedTs);
  }

  /** Read anew for each message, so that a change holds from the next one on, in every process. */
  async #hearsAll(workspace: string, channel: string): Promise<boolean> {
    return (await this.#parts.store.channels.get(workspace, channel)).listens === 'everything';
  }

  async #renaming({ workspace, channel }: Extract<Arrival, { kind: 'renaming' }>): Promise<Admission> {
    const follows = await this.#parts.store.projectNames.changed(workspace, channel);
    return follows ? { kind: 'renamed' } : { kind: 'ignored', why: 'no project follows the name' };
  }

  async #deletion(arrival: Extract<Arrival, { kind: 'deletion' }>): Promise<Admission> {
    const { workspace, channel, root, ts } = arrival;
    const key = { workspace, channel, ts };
    return this.#parts.store.transaction(async (store) => {
      await store.threads.lock({ workspace, channel, root });
      const known = await store.messages.get(key);
      if (known === undefined) {
        await store.messages.noteEarlyChange(key, { deleted: true, words: null, edited_ts: null });
        return { kind: 'ignored', why: 'a deletion before its message' };
      }
      if (await store.messages.withdraw(key)) return { kind: 'withdrawn' };
      if (known.state === 'withdrawn' || known.state === 'refused') return { kind: 'known' };
      // Obeyed where the service does not take it, and it would wait again.
      if (known.state === 'sending')
        await store.messages.noteEarlyChange(key, { deleted: true, words: null, edited_ts: null });
      return { kind: 'too_late', change: 'deletion' };
    });
  }
}

/** For us as it stands, only where its thread is ours, only where its channel's every message is, or not at all. */
type Concern = 'ours' | 'if_ours' | 'if_all' | 'none';

function concern(message: PersonMessage, read: MessageToRead, bot: { userId: string }): Concern {
  const addressed = mentions(read, bot.userId);
  // What bots say to each other would never end.
  if (isBotId(message.person) && !addressed.bot) return 'none';
  if (addressed.bot || message.channelKind === 'im') return 'ours';
  if (addressed.someoneElse) return 'none';
  return message.root === message.ts ? 'if_all' : 'if_ours';
}
