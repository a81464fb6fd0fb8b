import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, Message, SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { NumberedAnswer } from './numbered-lines.ts';
import { mean, percentile, round } from './statistics.ts';

/** How long after the last answer's end the threads may take to show everything, unless the caller waits less long (ms). */
const SETTLE_TIMEOUT_MS = 150_000;

/** A question in a thread of its own, and the answer that the agent writes to it. */
export interface AskedThread {
  answer: NumberedAnswer;
  channel: Channel;
  root: Message;
}

/** What one run measured. */
export interface LiveStats {
  firstVisibleP95Seconds: number;
  meanAgeSeconds: number;
  ageRatio: number;
  doneLagP50Seconds: number;
  doneLagP95Seconds: number;
  throttled: number;
  callsPerReply: number;
  messagesPerReply: number;
  equal: boolean;
}

/** Calls a minute, and the least time (s) between two of one reply: of edits at Slack, of streams between two reads. */
const PACES = {
  edits: { perMinute: 50, intervalSeconds: 3 },
  streams: { perMinute: 100, intervalSeconds: 1 },
};

/** The lowest mean age (s) that is possible at this pace. */
function idealAgeSeconds(threads: number, pace: keyof typeof PACES): number {
  const { perMinute, intervalSeconds } = PACES[pace];
  return Math.max(intervalSeconds, (threads * 60) / perMinute) / 2;
}

/** Measures when the threads show each line of their answers. */
export class ThreadObserver {
  readonly #slack: SlackWorkspace;
  readonly #threads: readonly AskedThread[];
  readonly #askedAt = performance.now();
  readonly #posts: number[];
  readonly #stop: () => void;

  constructor(slack: SlackWorkspace, threads: readonly AskedThread[]) {
    this.#slack = slack;
    this.#threads = threads;
    this.#posts = threads.map(() => 0);
    const byRoot = new Map(threads.map((thread, index) => [thread.root.ts, { ...thread, index }]));
    this.#stop = slack.onChange(({ kind, message }) => {
      const thread = byRoot.get(message.threadTs ?? '');
      if (thread === undefined || message.user !== slack.bot.userId) return;
      const now = performance.now();
      if (kind === 'posted') {
        this.#posts[thread.index] = (this.#posts[thread.index] ?? 0) + 1;
        if (Number.isNaN(thread.answer.firstReplyAt)) thread.answer.firstReplyAt = now;
      }
      if (kind !== 'deleted') thread.answer.see(slack.visibleText(message), now);
    });
  }

  /** Resolves to true when every thread shows its final state, to false after the timeout. */
  async waitUntilSettled(
    isFinished: (replies: readonly Message[]) => boolean,
    timeoutMs = SETTLE_TIMEOUT_MS,
  ): Promise<boolean> {
    const answers = this.#threads.map(({ answer }) => answer);
    while (answers.some(({ endedAt }) => Number.isNaN(endedAt))) await sleep(100);
    const last = Math.max(...answers.map(({ endedAt }) => endedAt));
    while (performance.now() - last < timeoutMs) {
      if (this.#threads.every((thread) => this.#isRight(thread, isFinished))) return true;
      await sleep(250);
    }
    return false;
  }

  /** `pace`: how replies can be shown at best. */
  stats(pace: keyof typeof PACES, equal: boolean): LiveStats {
    this.#stop();
    const threads = this.#threads.length;
    const answers = this.#threads.map(({ answer }) => answer);
    const meanAge = mean(answers.flatMap((answer) => answer.ages())) / 1_000;
    const lags = answers.map((answer) => answer.doneLag() / 1_000);
    const first = answers.map(({ firstReplyAt }) => (firstReplyAt - this.#askedAt) / 1_000);
    return {
      firstVisibleP95Seconds: round(percentile(first, 0.95)),
      meanAgeSeconds: round(meanAge),
      ageRatio: round(meanAge / idealAgeSeconds(threads, pace)),
      doneLagP50Seconds: round(percentile(lags, 0.5)),
      doneLagP95Seconds: round(percentile(lags, 0.95)),
      throttled: Object.values(this.#slack.throttledCalls).reduce((sum, count) => sum + count, 0),
      callsPerReply: round(this.#slack.calls.length / threads, 1),
      messagesPerReply: round(Math.max(...this.#posts), 1),
      equal,
    };
  }

  #isRight(
    { answer, channel, root }: AskedThread,
    isFinished: (replies: readonly Message[]) => boolean,
  ): boolean {
    const bot = this.#slack.bot.userId;
    const replies = this.#slack.thread(channel.id, root.ts).filter(({ user }) => user === bot);
    const shown = replies.map((message) => this.#slack.visibleText(message)).join('\n');
    return answer.isShownBy(shown) && isFinished(replies);
  }
}

/** Asks this many questions at once, each in its own thread, spread over at most ten channels or direct messages. */
export function askAll(slack: SlackWorkspace, threads: number, dm = false): AskedThread[] {
  const places = Array.from({ length: Math.min(threads, 10) }, (_, index) => {
    const person = slack.createPerson({ name: `reader-${index}` });
    return { person, channel: dm ? slack.openDm(person) : slack.createChannel({ name: `bench-${index}` }) };
  });
  return Array.from({ length: threads }, (_, index) => {
    const place = places[index % places.length];
    if (place === undefined) throw new Error('A bench needs at least one thread.');
    const text = dm ? `answer ${index}` : `<@${slack.bot.userId}> answer ${index}`;
    return {
      answer: new NumberedAnswer(index),
      channel: place.channel,
      root: slack.say({ ...place, text }),
    };
  });
}
