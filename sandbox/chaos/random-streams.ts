import { seededRandom } from '../slack/slack-workspace.ts';

const PURPOSES = ['people', 'slack', 'slackFaults', 'agentFaults', 'kills'] as const;

/** One stream of numbers (0 up to 1) for each purpose: what one of them uses up changes nothing for the others. */
export type RandomStreams = Readonly<Record<(typeof PURPOSES)[number], () => number>>;

export function createRandomStreams(seed: number): RandomStreams {
  const stream = (purpose: (typeof PURPOSES)[number]) =>
    seededRandom(seed * 31 + PURPOSES.indexOf(purpose) * 7_919);
  return {
    people: stream('people'),
    slack: stream('slack'),
    slackFaults: stream('slackFaults'),
    agentFaults: stream('agentFaults'),
    kills: stream('kills'),
  };
}

/** A whole number from `from` up to and with `to`. */
export function between(random: () => number, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** One of them. Throws for an empty list. */
export function oneOf<T>(random: () => number, list: readonly T[]): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error('There is nothing to choose from.');
  return chosen;
}

/** The same in another order. */
export function shuffled<T>(random: () => number, list: readonly T[]): T[] {
  const left = [...list];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
}
