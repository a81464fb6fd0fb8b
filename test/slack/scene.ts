import { RateLimiter } from '../../src/slack/budget.ts';
import { SlackClient } from '../../src/slack/client.ts';
import { rateLimitTable } from '../../src/slack/limits.ts';
import { RateLimitedClient } from '../../src/slack/paced-client.ts';
import { silentLog } from '../silent.ts';
import { InMemoryRateLimits } from './gcra-lanes.ts';
import { installation } from './installation.ts';
import { ScriptedSlack } from './scripted-slack.ts';

/** A scripted Slack and what a test needs to call it. */
export interface SlackClientScene {
  slack: ScriptedSlack;
  lanes: InMemoryRateLimits;
  budget: RateLimiter;
  api: RateLimitedClient;
}

export async function startSlackClientScene(options: { distributed?: boolean } = {}): Promise<SlackClientScene> {
  const slack = await new ScriptedSlack().start();
  const lanes = new InMemoryRateLimits();
  const budget = new RateLimiter({ store: lanes, lanes: rateLimitTable(options), log: silentLog });
  const client = new SlackClient({ installation, log: silentLog, slackApiUrl: slack.apiUrl, timeoutMs: 30_000 });
  return { slack, lanes, budget, api: new RateLimitedClient(client, budget) };
}
