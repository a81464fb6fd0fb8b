import type { ListenMode } from '../../store/schema.ts';
import type { ThreadListening } from '../../store/threads/threads.ts';
import { type IncomingMessage, isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import { readMentions } from './mentions.ts';
import type { ParsedMessage } from './message-parser.ts';

/**
 * Whom a message is for: the bot, in any thread; the people of its thread, or of its channel, and the bot where it
 * takes part there; or others, never the bot.
 */
export type Addressee = 'bot' | 'thread' | 'channel' | 'others';

/** Decides whom a message is for by its text, its writer and its place. */
export function addresseeOf(
  { channel, thread_ts, ts, person, isMention }: Omit<IncomingMessage, 'workspace' | 'content'>,
  parsed: ParsedMessage,
  botUserId: string,
): Addressee {
  const { mentionsBot, startsWithOtherPerson } = readMentions(parsed, botUserId);
  if (mentionsBot || isMention === true) return 'bot';
  // Two bots that answer each other would never stop.
  if (isBotId(person)) return 'others';
  if (isDirectChannel(channel)) return 'bot';
  if (startsWithOtherPerson) return 'others';
  return thread_ts === ts ? 'channel' : 'thread';
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
