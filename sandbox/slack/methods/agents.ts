import { z } from 'zod';
import type { Team } from '../model.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { json, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';

/** The status that the app shows for a thread. */
export interface ThreadStatus {
  status: string;
  title?: string;
  /** When it becomes `active` again on its own, Unix time in ms. */
  until?: number;
}

/** https://docs.slack.dev/ai/agent-sessions: "Working..." lasts at most an hour. */
const PROCESSING_MS = 3_600_000;

/** The methods for agents: agents.sessions (2026), and the prompts of assistant.threads. The keys of `statuses` are `channel thread_ts`. */
export function agentMethods(
  deps: WorkspaceDeps,
  statuses: Map<string, ThreadStatus>,
): Record<string, Method> {
  const place = { channel_id: text, thread_ts: text };
  const change = (team: Team, channelId: string, threadTs: string, status: ThreadStatus) => {
    const channel = deps.world.joinedChannel(team, channelId);
    const key = `${channel.id} ${threadTs}`;
    const { title } = statuses.get(key) ?? {};
    statuses.set(key, { ...(title === undefined ? {} : { title }), ...status });
    return {};
  };

  return {
    'agents.sessions.setStatus': method(
      { tier: 'tier3', scopes: ['chat:write'] },
      z.looseObject({
        ...place,
        status: z.enum(['processing', 'active', 'suspended', 'closed']),
        title: z.string().max(200).optional(),
      }),
      (args, team) => {
        if (!deps.settings.agent) throw new SlackRefusal('not_authorized');
        const title = args.title === undefined ? {} : { title: args.title };
        const until = deps.world.clock.now() + PROCESSING_MS;
        const life = args.status === 'processing' ? { until } : {};
        return change(team, args.channel_id, args.thread_ts, { status: args.status, ...title, ...life });
      },
    ),

    'agents.sessions.rename': method(
      { tier: 'tier3', scopes: ['chat:write'] },
      z.looseObject({ ...place, title: z.string().min(1).max(200) }),
      (args, team) => {
        if (!deps.settings.agent) throw new SlackRefusal('not_authorized');
        const session = statuses.get(`${args.channel_id} ${args.thread_ts}`);
        if (session === undefined) throw new SlackRefusal('session_not_found');
        return change(team, args.channel_id, args.thread_ts, { ...session, title: args.title });
      },
    ),

    'assistant.threads.setSuggestedPrompts': method(
      { tier: 'tier4', scopes: ['assistant:write'] },
      z.looseObject({
        channel_id: text,
        thread_ts: maybe,
        prompts: json.pipe(
          z
            .array(z.looseObject({ title: z.string(), message: z.string() }))
            .min(1)
            .max(4),
        ),
      }),
      (args, team) => {
        deps.world.joinedChannel(team, args.channel_id);
        return {};
      },
    ),
  };
}
