import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { type InProcessSandbox, startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import type { Message, Person } from '../sandbox/slack/slack-workspace.ts';
import { CredentialGate } from '../src/calls/credential-gate.ts';
import { createWorkspaceClient } from '../src/relay/runtime/deps.ts';
import { measureUpkeep, type UpkeepScale } from './crowd-upkeep.ts';
import { SLACK_LIMITS } from './live.ts';
import { percentile, round } from './statistics.ts';

/** How many people there are, how long a storm lasts, and how long its signs are waited for after it (s). */
const SCALES = {
  whole: { people: 5_000, seconds: 60, restSeconds: 120 },
  short: { people: 1_500, seconds: 15, restSeconds: 10 },
};
type Scale = (typeof SCALES)['whole'];

const UPKEEP: Record<keyof typeof SCALES, UpkeepScale> = {
  whole: {
    ...{ workspaces: 8_000, idleSeconds: 60, renewalSeconds: 25 },
    ...{ messages: 30_000, people: 60_000, questions: 10 },
  },
  short: {
    ...{ workspaces: 1_000, idleSeconds: 15, renewalSeconds: 12 },
    ...{ messages: 5_000, people: 5_000, questions: 10 },
  },
};

const OPENINGS_PER_MINUTE = 2_000;
const MENTIONS_PER_MINUTE = 500;
const NAMES = 2_000;
/** Beside each storm a person of whom the bot knows nothing asks this often (ms). */
const PROBE_INTERVAL_MS = 2_000;
/** The channels that share a storm's mentions: Slack takes one post a second in each. */
const CHANNELS = 50;
const ACTIVE_WORKSPACES = 1_000;

/** Questions in one workspace, and when each first showed that it was heard. */
class Crowd {
  readonly sandbox: InProcessSandbox;
  readonly people: Person[];
  readonly #asked: { root: Message; person: Person; at: number; kind: 'probe' | 'storm' }[] = [];

  constructor(sandbox: InProcessSandbox, count: number) {
    this.sandbox = sandbox;
    const { slack } = sandbox;
    this.people = Array.from({ length: count }, (_, at) => slack.createPerson({ name: `person-${at}` }));
  }

  channels(count: number) {
    const { slack } = this.sandbox;
    return Array.from({ length: count }, (_, at) =>
      slack.createChannel({ name: `channel-${at}`, members: this.people.slice(0, 1) }),
    );
  }

  /** Somebody of whom nothing is known asks in a channel. */
  ask(kind: 'probe' | 'storm', channel: ReturnType<Crowd['channels']>[number] | undefined, text = 'hello') {
    const { slack } = this.sandbox;
    const person = this.people.pop();
    if (person === undefined || channel === undefined) throw new Error('The crowd is too small.');
    slack.invite(channel, person);
    const root = slack.say({ person, channel, text: `<@${slack.bot.userId}> ${text}` });
    this.#asked.push({ root, person, at: Date.now(), kind });
  }

  /** From each question to its first reply, or to the first notice for its writer (s); never: infinite. */
  signs(kind: 'probe' | 'storm'): number[] {
    const first = new Map<unknown, number>();
    for (const { method, args, at, ok } of this.sandbox.slack.calls) {
      if (!ok || (method !== 'chat.postMessage' && method !== 'chat.postEphemeral')) continue;
      const of = method === 'chat.postMessage' ? args.thread_ts : args.user;
      if (!first.has(of)) first.set(of, at);
    }
    return this.#asked
      .filter((asked) => asked.kind === kind)
      .map(({ root, person, at }) => {
        const sign = Math.min(
          ...[root.ts, person.id].map((key) => first.get(key) ?? Number.POSITIVE_INFINITY),
        );
        return (sign - at) / 1_000;
      });
  }

  get isAnswered(): boolean {
    return [...this.signs('probe'), ...this.signs('storm')].every(Number.isFinite);
  }
}

/** Lets `each` happen so often a minute, beside people who ask. */
async function storm(
  { people, seconds, restSeconds }: Scale,
  perMinute: number,
  each: (crowd: Crowd) => () => void,
) {
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    slack: { limits: SLACK_LIMITS },
    agent: { script: async (turn) => turn.write('Done.') },
  });
  try {
    const crowd = new Crowd(sandbox, people);
    const happens = each(crowd);
    const probed = crowd.channels(Math.ceil((seconds * 1_000) / PROBE_INTERVAL_MS) + 1);
    const began = performance.now();
    let [count, probes] = [0, 0];
    for (let passed = 0; passed < seconds * 1_000; passed = performance.now() - began) {
      for (; count < (passed * perMinute) / 60_000; count += 1) happens();
      for (; probes * PROBE_INTERVAL_MS < passed; probes += 1) crowd.ask('probe', probed[probes]);
      await sleep(100);
    }
    for (let left = restSeconds; left > 0 && !crowd.isAnswered; left -= 1) await sleep(1_000);
    const { calls } = sandbox.slack;
    const lookups = calls.filter(({ method }) => method === 'users.info' || method === 'users.list').length;
    const p95 = (kind: 'probe' | 'storm') => round(Math.min(9_999, percentile(crowd.signs(kind), 0.95)));
    return {
      signP95Seconds: p95('probe'),
      ...(crowd.signs('storm').length > 0 && { ownSignP95Seconds: p95('storm') }),
      callsEach: round(calls.length / Math.max(1, count)),
      lookupsEach: round(lookups / Math.max(1, count)),
      throttled: Object.values(sandbox.slack.throttledCalls).reduce((sum, refused) => sum + refused, 0),
    };
  } finally {
    await sandbox.stop();
  }
}

/** What an active workspace takes beside what is known of it. */
function bytesPerActiveWorkspace(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  const log = pino({ level: 'silent' });
  const options = {
    ...{ slackApiUrl: 'http://127.0.0.1:1/', isDistributed: false, editsPerMinute: 50 },
    ...{ showAgentSessions: true, maxFileBytes: 1, onEdit: () => undefined, log },
    rateLimitStore: { take: async () => 0, pause: async () => undefined },
  };
  const open = (at: number) => {
    const gate = new CredentialGate({ setting: 'SLACK_BOT_TOKEN', workspace: `T${at}`, log });
    const installation = { workspace: `T${at}`, token: 'xoxb-1', botUser: 'U1', botId: 'B1' };
    return createWorkspaceClient(installation, options, gate);
  };
  const used = () => {
    if (typeof collectGarbage === 'function') collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const kept = [open(0)];
  const before = used();
  while (kept.length <= ACTIVE_WORKSPACES) kept.push(open(kept.length));
  return Math.round((used() - before) / ACTIVE_WORKSPACES);
}

/**
 * Storms in a workspace, and how soon somebody who asks beside them is heard; what many workspaces and people cost.
 * `--short` takes three minutes; `--upkeep` measures only the latter. The last line is JSON.
 */
export async function run(args: string[]): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ args, options: { short: flag, upkeep: flag } });
  const size = values.short ? 'short' : 'whole';
  const storms = values.upkeep ? {} : await measureStorms(SCALES[size]);
  const upkeep = await measureUpkeep(UPKEEP[size]);
  console.table(upkeep);
  console.log(JSON.stringify({ bench: 'crowd', ...SCALES[size], ...storms, ...upkeep }));
}

async function measureStorms(scale: Scale) {
  const bytesPerWorkspace = bytesPerActiveWorkspace();
  const openings = await storm(scale, OPENINGS_PER_MINUTE, ({ people, sandbox }) => {
    const openers = people.slice(0, 1_000);
    let at = 0;
    return () => {
      const opener = openers[at % openers.length];
      at += 1;
      if (opener !== undefined) sandbox.slack.openHome(opener);
    };
  });
  const names = await storm(scale, 60 / scale.seconds, (crowd) => {
    const [channel] = crowd.channels(1);
    const named = crowd.people.slice(0, Math.min(NAMES, crowd.people.length / 2)).map(({ id }) => `<@${id}>`);
    return () => crowd.ask('storm', channel, `compare ${named.join(' ')}`);
  });
  const mentions = await storm(scale, MENTIONS_PER_MINUTE, (crowd) => {
    const channels = crowd.channels(CHANNELS);
    let at = 0;
    return () => {
      at += 1;
      crowd.ask('storm', channels[at % channels.length]);
    };
  });
  console.table({ openings, names, mentions });
  return { bytesPerWorkspace, openings, names, mentions };
}
