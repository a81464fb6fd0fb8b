import type { Logger } from 'pino';
import { z } from 'zod';
import { type Installation, SlackClient } from './client.ts';

const answer = z.looseObject({
  team_id: z.string(),
  team: z.string().nullish(),
  user_id: z.string(),
  bot_id: z.string(),
  enterprise_id: z.string().nullish(),
});

/** Asks Slack whose token this is. Throws a SlackError: Unauthorized where Slack does not take it. */
export async function identify(options: {
  token: string;
  slackApiUrl: string;
  log: Logger;
}): Promise<Installation & { name: string }> {
  const { token, slackApiUrl, log } = options;
  const unknown = { workspace: '', token, botUser: '', botId: '' };
  const client = new SlackClient({ installation: unknown, slackApiUrl, log });
  const told = await client.call('auth.test', {}, { schema: answer });
  return {
    workspace: told.team_id,
    name: told.team ?? told.team_id,
    token,
    botUser: told.user_id,
    botId: told.bot_id,
    ...(told.enterprise_id ? { enterprise: told.enterprise_id } : {}),
  };
}
