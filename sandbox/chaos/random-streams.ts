import { seededRandom } from '../slack/slack-workspace.ts';

/** Each purpose's index is part of its seed: the order is fixed. */
const PURPOSES = [
  'people',
  'slack',
  'slackFaults',
  'agentFaults',
  'kills',
  'interventions',
  'databaseFaults',
] as const;

/** An independent stream of random numbers in [0, 1) for each purpose. */
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
    interventions: stream('interventions'),
    databaseFaults: stream('databaseFaults'),
  };
}

/** A random integer from `from` to `to`, inclusive. */
export function between(random: () => number, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** A random item. @throws for an empty list */
export function oneOf<T>(random: () => number, list: readonly T[]): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error('There is nothing to choose from.');
  return chosen;
}

/** A copy in random order. */
export function shuffled<T>(random: () => number, list: readonly T[]): T[] {
  const left = [...list];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
}
