import { z } from 'zod';
import type { StopTrigger } from '../relay/controls/stop-triggers.ts';
import { slackId, slackTs } from '../slack/field-schemas.ts';
import type { Envelope } from './envelope.ts';

const stopTriggerSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('reaction_added'),
    user: slackId,
    reaction: z.string().max(200),
    item: z.looseObject({ type: z.literal('message'), channel: slackId, ts: slackTs }),
    event_ts: slackTs,
  }),
  z.looseObject({
    type: z.literal('agent_session_stopped'),
    user: slackId,
    channel: slackId,
    thread_ts: slackTs,
    event_ts: slackTs,
  }),
]);

/** Reads a stop by reaction or by Slack's own button; undefined for anything else, and for what the bot does itself. */
export function parseStopTrigger(
  { workspace, event }: Envelope,
  bot: { userId: string },
): StopTrigger | undefined {
  const parsed = stopTriggerSchema.safeParse(event);
  if (!parsed.success || parsed.data.user === bot.userId) return undefined;
  const data = parsed.data;
  const by = { workspace, person: data.user, ts: data.event_ts };
  if (data.type === 'agent_session_stopped')
    return { ...by, kind: 'session_stopped', channel: data.channel, thread_ts: data.thread_ts };
  const { channel, ts: target } = data.item;
  return { ...by, kind: 'reaction', channel, target, name: data.reaction };
}
