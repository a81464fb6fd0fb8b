import type { ListenMode } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { ThreadListening } from '../../store/threads/conversation.ts';
import type { Addressee } from '../reading/addressing.ts';
import { type IncomingMessage, isBotId } from '../runtime/incoming-message.ts';

/** What the bot does with a message. */
interface Listening {
  /** It is for the bot even if its thread is not. */
  isAddressed: boolean;
  /** What it becomes: `null` if its thread is not ours, undefined if nothing is written down. */
  state: 'waiting' | 'unsent' | null | undefined;
}

/**
 * Whether the bot listens to a message: it mentions the bot, or the bot listens to everything in the channel, or to replies
 * in its thread. Where people began the thread, the ids of all they say are kept: they tell who talks to whom. Reads the
 * settings for each message, so that a change applies to the next one in every process.
 */
export async function listenTo(
  { store, settings }: { store: Store; settings: { readonly listenMode: ListenMode } },
  { workspace, channel, thread_ts, ts, person }: IncomingMessage,
  addressee: Addressee,
): Promise<Listening> {
  const isAddressed =
    addressee === 'bot' ||
    (addressee === 'channel' && (await store.settings.get(workspace, channel)).listen_mode === 'everything');
  if (isAddressed) return { isAddressed, state: 'waiting' };
  if (addressee === 'channel' || thread_ts === ts || isBotId(person))
    return { isAddressed, state: undefined };
  const listening = await store.threads.listening({ workspace, channel, thread_ts }, person, ts);
  if (listening === undefined) return { isAddressed, state: addressee === 'others' ? undefined : null };
  if (isReplyForBot(listening, addressee, settings.listenMode)) return { isAddressed, state: 'waiting' };
  return { isAddressed, state: listening.isBetweenPeople ? 'unsent' : undefined };
}

/**
 * Whether a reply that does not mention the bot is for it. In a thread that began with the bot, every reply is. Where
 * people began the thread, the settings decide; in a conversation, a reply is for the bot if its writer has turned to it
 * there and nobody else has written since its last message. What a reply says does not count: "ok" may be an answer.
 */
export function isReplyForBot(listening: ThreadListening, addressee: Addressee, usual: ListenMode): boolean {
  if (addressee === 'others') return false;
  const { isBetweenPeople, listensToAll, listenMode, isInConversation } = listening;
  if (!isBetweenPeople || listensToAll) return true;
  const mode = listenMode ?? usual;
  return mode === 'conversation' ? isInConversation : mode !== 'mentions';
}
