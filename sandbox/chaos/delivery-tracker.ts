import { z } from 'zod';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { SaidMessage } from './damage.ts';

const messageEvent = z.looseObject({ event: z.looseObject({ channel: z.string(), ts: z.string() }) });

/** Records which messages reached the bot: Slack gives up an event after three retries. */
export class DeliveryTracker {
  readonly #delivered = new Set<string>();

  constructor(slack: SlackWorkspace) {
    slack.onAcknowledged((payload) => {
      const { data } = messageEvent.safeParse(payload);
      if (data !== undefined) this.#delivered.add(`${data.event.channel}/${data.event.ts}`);
    });
  }

  /** Whether the bot acknowledged the message and the root of its thread. */
  wasDelivered({ channel, ts, thread }: Pick<SaidMessage, 'channel' | 'ts' | 'thread'>): boolean {
    return this.#delivered.has(`${channel}/${ts}`) && this.#delivered.has(thread);
  }
}
