import type { AgentTurn } from '../../sandbox/agent/agent-script.ts';
import { startAgentService } from '../../sandbox/agent/agent-service.ts';
import { type Channel, type Person, startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { serve } from '../child-process.ts';
import { SLACK_LIMITS } from '../live.ts';
import { markdownAnswer } from '../markdown-answer.ts';
import {
  askRequestSchema,
  CHANNELS_PER_WORKSPACE,
  growRequestSchema,
  REPLY_CHARACTERS,
  serviceKeyOf,
  WORKSPACES,
} from './process-messages.ts';

/** Both services of the scale bench: 40 workspaces in Slack, and an agent service with a key for each. */

/** Characters that a reply has before the measurement, and per step during it. */
const INITIAL_CHARACTERS = 3_000;
const STEP_CHARACTERS = 100;
const READ_ENDPOINT = 'GET /experimental/tasks/{task_id}/messages/{message_id}';

const FULL_ANSWER = markdownAnswer(REPLY_CHARACTERS);
const growth = Promise.withResolvers<{ ms: number }>();
let startedReplies = 0;
let grownReplies = 0;
let reads = 0;
let edits = 0;

const names = Array.from({ length: WORKSPACES }, (_, index) => `Workspace ${index}`);
const slack = await startSlackWorkspace({
  limits: SLACK_LIMITS,
  // No event is delivered: the bench hands the questions to the inbox itself.
  events: [],
  teams: names.map((name) => ({ name })),
});
const places = slack.teams.map((team): { ada: Person; channels: Channel[] } => ({
  ada: slack.createPerson({ name: 'ada', teamId: team.id }),
  channels: Array.from({ length: CHANNELS_PER_WORKSPACE }, (_, index) =>
    slack.createChannel({ name: `bench-${index}`, teamId: team.id }),
  ),
}));
const agent = await startAgentService({
  apiKeys: Object.fromEntries(slack.teams.map((team) => [serviceKeyOf(team.id), team.id])),
  script: (turn) => (turn.text.includes('warm-up') ? writeAtOnce(turn) : write(turn)),
});
agent.onCall(({ name }) => {
  if (name === READ_ENDPOINT) reads += 1;
});
slack.onCall(({ method, ok }) => {
  if (method === 'chat.update' && ok) edits += 1;
});

async function writeAtOnce(turn: AgentTurn): Promise<void> {
  for (let at = 0; at < REPLY_CHARACTERS; at += 1_000) {
    turn.write(FULL_ANSWER.slice(at, at + 1_000));
    await turn.sleep(1_500);
  }
}

/** Writes a reply that keeps growing during the measurement and does not end. */
async function write(turn: AgentTurn): Promise<void> {
  turn.write(FULL_ANSWER.slice(0, INITIAL_CHARACTERS));
  startedReplies += 1;
  const { ms } = await growth.promise;
  const steps = (REPLY_CHARACTERS - INITIAL_CHARACTERS) / STEP_CHARACTERS;
  await turn.sleep((ms / steps) * Math.random());
  for (let at = INITIAL_CHARACTERS; at < REPLY_CHARACTERS; at += STEP_CHARACTERS) {
    turn.write(FULL_ANSWER.slice(at, at + STEP_CHARACTERS));
    await turn.sleep(ms / steps);
  }
  grownReplies += 1;
  await turn.sleep(3_600_000);
}

serve({
  where: () => ({
    slackApiUrl: slack.apiUrl,
    agentUrl: agent.url,
    tokens: slack.teams.map(({ installation }) => installation.token),
  }),
  // Asks questions in Slack, spread over all workspaces and channels.
  ask: (value) => {
    const { count, text, from } = askRequestSchema.parse(value);
    return Array.from({ length: count }, (_, at) => {
      const index = from + at;
      const team = slack.teams[index % WORKSPACES];
      const place = places[index % WORKSPACES];
      const channel = place?.channels[Math.floor(index / WORKSPACES) % CHANNELS_PER_WORKSPACE];
      if (team === undefined || place === undefined || channel === undefined)
        throw new Error('There is no such channel.');
      const words = `<@${team.bot.userId}> ${text} ${index}`;
      const said = slack.say({ person: place.ada, channel, text: words });
      return { workspace: team.id, channel: channel.id, person: place.ada.id, ts: said.ts, text: words };
    });
  },
  grow: (value) => growth.resolve(growRequestSchema.parse(value)),
  counts: () => ({
    begun: startedReplies,
    grown: grownReplies,
    reads,
    edits,
    refused: Object.values(slack.throttledCalls).reduce((sum, count) => sum + count, 0),
  }),
});
