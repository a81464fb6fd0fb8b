import { seededRandom } from '../slack/slack-workspace.ts';

/** An independent stream of random numbers in [0, 1) for each purpose: its index is part of its seed. */
export function createRandomStreams(seed: number) {
  const stream = (index: number) => seededRandom(seed * 31 + index * 7_919);
  return {
    people: stream(0),
    slack: stream(1),
    slackFaults: stream(2),
    agentFaults: stream(3),
    kills: stream(4),
    interventions: stream(5),
    databaseFaults: stream(6),
    networkFaults: stream(7),
  };
}
export type RandomStreams = ReturnType<typeof createRandomStreams>;

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
