import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { SlackAuthError, SlackRateLimitError, SlackUnavailableError } from './errors.ts';
import {
  type Installation,
  SlackClient,
  type SlackClientOptions,
  tokenOnlyInstallation,
} from './slack-client.ts';

/** What a token stands for. */
export interface TokenIdentity {
  installation: Installation;
  /** The workspace's name and its address for people. */
  name: string;
  url: string;
  /** The scopes that were granted; empty where Slack does not tell. */
  scopes: readonly string[];
}

const authTestSchema = z.looseObject({
  team_id: z.string(),
  team: z.string(),
  url: z.string(),
  user_id: z.string(),
  bot_id: z.string(),
  enterprise_id: z.string().nullish(),
  response_metadata: z.looseObject({ scopes: z.array(z.string()).optional() }).optional(),
});

/** How often a start asks when Slack is away for a moment, and the pause (ms) between. */
const MAX_ATTEMPTS = 5;
const RETRY_PAUSE_MS = 1_000;
/** An answer of another shape stays so: to a person's token, say. */
const UNREADABLE_ANSWER = 'unreadable_answer';

/** Asks Slack whose bot token this is, a few times where Slack is away. Throws a SlackError; a person's token has no bot and is unreadable. */
export async function identifyToken(
  options: Omit<SlackClientOptions, 'installation'> & { token: string },
): Promise<TokenIdentity> {
  const { token, ...rest } = options;
  const client = new SlackClient({ ...rest, installation: tokenOnlyInstallation(token) });
  const answer = await authTestWithRetry(client);
  return {
    installation: {
      workspace: answer.team_id,
      token,
      botUser: answer.user_id,
      botId: answer.bot_id,
      enterprise: answer.enterprise_id ?? undefined,
    },
    name: answer.team,
    url: answer.url,
    scopes: answer.response_metadata?.scopes ?? [],
  };
}

/** The longest that the question takes whether a token is good (ms): an event waits for it, and lives 3 s. */
const TOKEN_CHECK_TIMEOUT_MS = 1_500;

/** Whether a token is good. Throws a SlackError where Slack cannot be asked. */
export async function isTokenValid(
  options: Omit<SlackClientOptions, 'installation'> & { token: string },
): Promise<boolean> {
  const { token, ...rest } = options;
  try {
    const client = new SlackClient({
      timeoutMs: TOKEN_CHECK_TIMEOUT_MS,
      ...rest,
      installation: tokenOnlyInstallation(token),
    });
    await client.call('auth.test', {}, { schema: z.looseObject({}) });
    return true;
  } catch (error) {
    if (error instanceof SlackAuthError) return false;
    throw error;
  }
}

const teamsPage = z.looseObject({
  teams: z.array(z.looseObject({ id: z.string() })),
  response_metadata: z.looseObject({ next_cursor: z.string().nullish() }).nullish(),
});

/** Workspaces that one call names, and pages that are read at most. */
const teamsOnPage = 1_000;
const mostPages = 10;

/** The workspaces (T…) that an organisation's token reaches. Throws a SlackError where Slack cannot be asked. */
export async function reachedBy(
  options: Omit<SlackClientOptions, 'installation'> & { token: string },
): Promise<ReadonlySet<string>> {
  const { token, ...rest } = options;
  const client = new SlackClient({
    timeoutMs: TOKEN_CHECK_TIMEOUT_MS,
    ...rest,
    installation: tokenOnlyInstallation(token),
  });
  const reached = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const args = { limit: teamsOnPage, ...(cursor !== undefined && { cursor }) };
    const { teams, response_metadata: more } = await client.call('auth.teams.list', args, {
      schema: teamsPage,
    });
    for (const { id } of teams) reached.add(id);
    cursor = more?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return reached;
}

/** Gives a token back: Slack takes it no more. Throws a SlackError. */
export async function revokeToken(
  options: Omit<SlackClientOptions, 'installation'> & { token: string },
): Promise<void> {
  const { token, ...rest } = options;
  const client = new SlackClient({ ...rest, installation: tokenOnlyInstallation(token) });
  await client.call('auth.revoke', {}, { schema: z.looseObject({}) });
}

async function authTestWithRetry(client: SlackClient): Promise<z.output<typeof authTestSchema>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.call('auth.test', {}, { schema: authTestSchema });
    } catch (error) {
      const passes =
        error instanceof SlackRateLimitError ||
        (error instanceof SlackUnavailableError && error.slackCode !== UNREADABLE_ANSWER);
      if (!passes || tries >= MAX_ATTEMPTS) throw error;
      await sleep(error instanceof SlackRateLimitError ? error.retryAfterMs : RETRY_PAUSE_MS);
    }
  }
}
