import { createHash } from 'node:crypto';
import type { AgentScript, AgentTurn } from '../agent/agent-script.ts';
import { seededRandom } from '../slack/slack-workspace.ts';
import { between, oneOf } from './random-streams.ts';

/** Words in a message that ask for a result. */
export const RESULT_REQUEST = 'leave a file';

/** Of a reply. */
const QUESTION_CHANCE = 0.5;

const LONG_REPLY_LINES = 130;
const VOCABULARY =
  'amber birch cedar delta ember fjord grove heron inlet juniper kelp larch moss north otter'.split(' ');

/**
 * The reply to a message: a function of its text and of how often the task contained the same text before. Each reply
 * contains a unique token by which it can be counted in a thread.
 */
export function scriptedReply(text: string, earlier: number) {
  const digest = createHash('sha256').update(`${earlier} ${text}`).digest();
  const token = digest.toString('hex').slice(0, 10);
  const random = seededRandom(digest.readUInt32LE(8));
  const lines = random() < 0.08 ? LONG_REPLY_LINES : between(random, 3, 8);
  const words = () =>
    Array.from({ length: between(random, 8, 14) }, () => oneOf(random, VOCABULARY)).join(' ');
  const pieces = [
    `Reply ${token} begins.\n\n`,
    ...Array.from({ length: lines }, (_, line) => `Line ${line + 1} of ${token}: ${words()}.\n\n`),
    `Reply ${token} ends.`,
  ];
  const results = text.includes(RESULT_REQUEST)
    ? Array.from({ length: between(random, 1, 2) }, (_, index) => `result-${token}-${index + 1}.csv`)
    : [];
  return {
    token,
    /** The reply's text as it is written, and the pause after each piece. */
    pieces,
    pauseMs: between(random, 500, 2_500) / pieces.length,
    /** Names of its result files. */
    results,
    /** How many tools it calls, one after each of its first pieces. */
    toolCalls: random() < 0.25 ? between(random, 1, 4) : 0,
    /** After half of its pieces it asks something and waits for an answer, where the run has questions. */
    asksForMs: random() < QUESTION_CHANCE ? between(random, 6_000, 16_000) : undefined,
  };
}

/** Asks, and goes on with an answer or without one. */
async function askPeople(turn: AgentTurn, forMs: number): Promise<void> {
  const asked = turn.ask('Shall I go on like this?\n\n');
  // A stop may come later.
  asked.catch(() => undefined);
  await Promise.race([asked, turn.sleep(forMs)]);
}

/** The agent script of a chaos run. `questions`: the agent asks people, too; `cite`: what a reply with a token cites. */
export function chaosAgent({
  questions = false,
  cite,
}: {
  questions?: boolean;
  cite?: ((token: string) => string) | undefined;
} = {}): AgentScript {
  return async (turn) => {
    const earlier = turn.history.filter(({ role, text }) => role === 'user' && text === turn.text).length;
    const reply = scriptedReply(turn.text, earlier);
    for (const [index, piece] of reply.pieces.entries()) {
      turn.write(piece);
      if (index < reply.toolCalls)
        await turn.tool(
          'look_up',
          { query: `weather ${index + 1}` },
          () => 'stormy, see https://www.weather.gov/now.',
        );
      await turn.sleep(reply.pauseMs);
      const isHalf = index === Math.floor(reply.pieces.length / 2);
      if (questions && isHalf && reply.asksForMs !== undefined) await askPeople(turn, reply.asksForMs);
    }
    if (cite !== undefined) turn.write(cite(reply.token));
    for (const name of reply.results) await turn.result(name, 'text/csv', `name\n${name}\n`);
  };
}
