import { Budget } from '../../src/slack/budget.ts';
import { SlackClient } from '../../src/slack/client.ts';
import { laneTable } from '../../src/slack/limits.ts';
import { PacedClient } from '../../src/slack/paced-client.ts';
import { silent } from '../silent.ts';
import { GcraLanes } from './gcra-lanes.ts';
import { installation } from './installation.ts';
import { ScriptedSlack } from './scripted-slack.ts';

/** A scripted Slack and what a test needs to call it. */
export interface Scene {
  slack: ScriptedSlack;
  lanes: GcraLanes;
  budget: Budget;
  api: PacedClient;
}

export async function startScene(options: { distributed?: boolean } = {}): Promise<Scene> {
  const slack = await new ScriptedSlack().start();
  const lanes = new GcraLanes();
  const budget = new Budget({ store: lanes, lanes: laneTable(options), log: silent });
  const client = new SlackClient({ installation, log: silent, slackApiUrl: slack.apiUrl, timeoutMs: 30_000 });
  return { slack, lanes, budget, api: new PacedClient(client, budget) };
}
