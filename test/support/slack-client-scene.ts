import type { SlackFile } from '../../src/slack/downloadable-files.ts';
import { RateLimitedClient, RateLimiter, rateLimitTable } from '../../src/slack/rate-limits.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { InMemoryRateLimits } from './in-memory-rate-limits.ts';
import { ScriptedSlack } from './scripted-slack.ts';
import { silentLog } from './silent-log.ts';
import { installation } from './slack-installation.ts';

/** A table of so many bytes at `files/F1`. */
export function sharedTable({ origin }: ScriptedSlack, size: number): SlackFile {
  return {
    id: 'F1',
    name: 'data.csv',
    mimetype: 'text/csv',
    mode: 'hosted',
    size,
    url_private: `${origin}/files/F1`,
  };
}

/** A scripted Slack and what a test needs to call it. */
export interface SlackClientScene {
  slack: ScriptedSlack;
  rateLimits: InMemoryRateLimits;
  rateLimiter: RateLimiter;
  client: RateLimitedClient;
}

export async function startSlackClientScene(
  options: { distributed?: boolean; pace?: number } = {},
): Promise<SlackClientScene> {
  const slack = await new ScriptedSlack().start();
  const rateLimits = new InMemoryRateLimits();
  const rateLimiter = new RateLimiter({
    workspace: installation.workspace,
    store: rateLimits,
    rateLimits: rateLimitTable(options),
    pace: options.pace,
    log: silentLog,
  });
  const slackClient = new SlackClient({
    installation,
    log: silentLog,
    slackApiUrl: slack.apiUrl,
    timeoutMs: 30_000,
  });
  return { slack, rateLimits, rateLimiter, client: new RateLimitedClient(slackClient, rateLimiter) };
}
