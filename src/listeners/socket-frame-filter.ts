import type { SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { tryParseJson } from '../slack/safe-json.ts';

type SocketModeClient = SocketModeReceiver['client'];

const typedObject = z.looseObject({ type: z.string() });
const frameSchema = z.union([
  z.looseObject({ type: z.literal('events_api'), payload: z.looseObject({ event: typedObject }) }),
  z.looseObject({ type: z.literal('interactive'), payload: z.looseObject({}) }),
  z.looseObject({ type: z.literal('slash_commands'), payload: z.looseObject({}) }),
  z.looseObject({ type: z.enum(['hello', 'disconnect']) }),
]);

/**
 * Drops frames on which Bolt's client fails with an uncaught error, such as an event without an inner one
 * (`app_rate_limited`). Slack sends such a frame three more times.
 */
export function dropMalformedFrames(client: SocketModeClient, log: Logger): void {
  const listeners = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const frame = tryParseJson(String(data));
    if (frameSchema.safeParse(frame).success) {
      for (const listener of listeners) void callListener(listener, client, [data, isBinary], log);
      return;
    }
    log.warn(
      { bytes: typeof data === 'string' ? data.length : undefined },
      'dropped a Socket Mode frame of unknown content',
    );
  });
}

async function callListener(
  listener: (...args: unknown[]) => unknown,
  client: SocketModeClient,
  args: unknown[],
  log: Logger,
): Promise<void> {
  try {
    await listener.apply(client, args);
  } catch (error) {
    log.error({ err: error }, 'could not handle a Socket Mode frame');
  }
}
