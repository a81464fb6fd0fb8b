import { createSlackAdapter } from '@chat-adapter/slack';
import { createMemoryState } from '@chat-adapter/state-memory';
import { Chat, ConsoleLogger } from 'chat';

/**
 * A bot of the Chat SDK as its documents show it: an async iterable is handed to `thread.post`. Native streaming is its
 * default; `nativeStreaming: false` is its documented way to edit instead. All else is as it comes, the retries of
 * WebClient too. The answer is a function that ends the bot.
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
