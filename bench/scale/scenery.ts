import type { AgentTurn } from '../../src/sandbox/agent/script.ts';
import { startAgentService } from '../../src/sandbox/agent/service.ts';
import { type Channel, type Person, startSlackWorkspace } from '../../src/sandbox/slack/workspace.ts';
import { serve } from '../child.ts';
import { slackLimits } from '../live.ts';
import { answerOf } from '../markdown-answer.ts';
import { askOrder, channelsEach, characters, growOrder, keyOf, workspaces } from './terms.ts';

/** Both services for the scale bench: 40 workspaces in Slack, and the agent with a key for each of them. */

/** Characters that a reply has before it is watched, and those that it grows by at a time. */
const begunWith = 3_000;
const stepCharacters = 100;
const read = 'GET /experimental/tasks/{task_id}/messages/{message_id}';

const whole = answerOf(characters);
const growth = Promise.withResolvers<{ ms: number }>();
let begun = 0;
let grown = 0;
let reads = 0;
let edits = 0;

const names = Array.from({ length: workspaces }, (_, index) => `Workspace ${index}`);
const slack = await startSlackWorkspace({
  limits: slackLimits,
  // Nobody listens: the bench hands people's words to the inbox itself.
  events: [],
  teams: names.map((name) => ({ name })),
});
const places = slack.teams.map((team): { ada: Person; channels: Channel[] } => ({
  ada: slack.createPerson({ name: 'ada', teamId: team.id }),
  channels: Array.from({ length: channelsEach }, (_, index) =>
    slack.createChannel({ name: `bench-${index}`, teamId: team.id }),
  ),
}));
const agent = await startAgentService({
  apiKeys: Object.fromEntries(slack.teams.map((team) => [keyOf(team.id), team.id])),
  script: (turn) => (turn.text.includes('warm-up') ? writeAtOnce(turn) : write(turn)),
});
agent.onCall(({ name }) => {
  if (name === read) reads += 1;
});
slack.onCall(({ method, ok }) => {
  if (method === 'chat.update' && ok) edits += 1;
});

async function writeAtOnce(turn: AgentTurn): Promise<void> {
  for (let at = 0; at < characters; at += 1_000) {
    turn.write(whole.slice(at, at + 1_000));
    await turn.sleep(1_500);
  }
}

/** Grows all the time while it is watched, and does not end. */
async function write(turn: AgentTurn): Promise<void> {
  turn.write(whole.slice(0, begunWith));
  begun += 1;
  const { ms } = await growth.promise;
  const steps = (characters - begunWith) / stepCharacters;
  await turn.sleep((ms / steps) * Math.random());
  for (let at = begunWith; at < characters; at += stepCharacters) {
    turn.write(whole.slice(at, at + stepCharacters));
    await turn.sleep(ms / steps);
  }
  grown += 1;
  await turn.sleep(3_600_000);
}

serve({
  where: () => ({
    slackApiUrl: slack.apiUrl,
    agentUrl: agent.url,
    tokens: slack.teams.map(({ grant }) => grant.token),
  }),
  // Questions that people asked in Slack just now, spread over all workspaces and channels.
  ask: (value) => {
    const { count, text, from } = askOrder.parse(value);
    return Array.from({ length: count }, (_, at) => {
      const index = from + at;
      const team = slack.teams[index % workspaces];
      const place = places[index % workspaces];
      const channel = place?.channels[Math.floor(index / workspaces) % channelsEach];
      if (team === undefined || place === undefined || channel === undefined)
        throw new Error('No such place.');
      const words = `<@${team.bot.userId}> ${text} ${index}`;
      const said = slack.say({ person: place.ada, channel, text: words });
      return { workspace: team.id, channel: channel.id, person: place.ada.id, ts: said.ts, text: words };
    });
  },
  grow: (value) => growth.resolve(growOrder.parse(value)),
  counts: () => ({
    begun,
    grown,
    reads,
    edits,
    refused: Object.values(slack.refused).reduce((sum, count) => sum + count, 0),
  }),
});
