import { createSlackAdapter } from '@chat-adapter/slack';
import { createMemoryState } from '@chat-adapter/state-memory';
import { Chat, ConsoleLogger } from 'chat';

/**
 * A bot of the Chat SDK that follows its documentation: it hands an async iterable to `thread.post`. Native streaming is
 * the default; `nativeStreaming: false` makes it edit instead. Everything else keeps its default, including WebClient's
 * retries. Returns a function that stops the bot.
 */
export async function start({ slack, answer, native, updateIntervalMs }) {
  const logger = new ConsoleLogger('silent');
  const webClientOptions = { logLevel: 'error' };
  const adapter = createSlackAdapter({
    mode: 'socket',
    ...slack,
    nativeStreaming: native,
    logger,
    webClientOptions,
  });
  const bot = new Chat({
    userName: 'bot',
    adapters: { slack: adapter },
    state: createMemoryState(),
    logger,
    ...(updateIntervalMs === undefined ? {} : { streamingUpdateIntervalMs: updateIntervalMs }),
  });
  bot.onNewMention(async (thread, message) => {
    await thread.post(answer(message.text));
  });
  await bot.initialize();
  return () => bot.shutdown();
}
