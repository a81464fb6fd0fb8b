import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { z } from 'zod';
import { AgentClient } from '../../src/agent/agent-client.ts';
import { relaySettings } from '../../src/app/turns.ts';
import { CredentialGate } from '../../src/calls/credential-gate.ts';
import { readConfig, secretValues } from '../../src/config/environment-and-secret-files.ts';
import { RELAY_LIMITS } from '../../src/limits.ts';
import { createLogger, Redactor } from '../../src/operate/logger.ts';
import { Telemetry } from '../../src/operate/telemetry.ts';
import { Inbox } from '../../src/relay/inbox/inbox.ts';
import { createWorkspaceClient, type RelayDeps, type WorkspaceClient } from '../../src/relay/runtime/deps.ts';
import { JobRunner } from '../../src/relay/runtime/job-runner.ts';
import { ReadRate } from '../../src/relay/runtime/read-rate.ts';
import { RenderQueue } from '../../src/relay/runtime/render-queue.ts';
import { ReplyMemory } from '../../src/relay/runtime/reply-memory.ts';
import { TurnRunner, turnJobs } from '../../src/relay/turns/turn-runner.ts';
import { identifyToken } from '../../src/slack/tokens.ts';
import { openDatabase } from '../../src/store/database.ts';
import { JOB_KIND } from '../../src/store/jobs/jobs.ts';
import { SharedRateLimits } from '../../src/store/slack/shared-rate-limits.ts';
import { readStats } from '../../src/store/stats.ts';
import { Store } from '../../src/store/store.ts';
import { serve } from '../child-process.ts';
import { questionSchema, serviceKeyOf, startRequestSchema } from './process-messages.ts';

/** How long turns may take to hand over at the stop (ms). */
const DRAIN_MS = 10_000;

/**
 * The process that the scale bench looks at: the app's own parts for 40 workspaces, each with its own service account.
 * Put together as `app.ts` does it for one, without what receives events.
 */
async function start({ where, databaseUrl, readsPerSecond }: z.infer<typeof startRequestSchema>) {
  const config = readConfig({
    SLACK_BOT_TOKEN: where.tokens[0],
    SLACK_APP_TOKEN: 'xapp-none',
    SLACK_API_URL: where.slackApiUrl,
    AGENT_BASE_URL: where.agentUrl,
    AGENT_API_KEY: 'one-for-each-workspace',
    PRIVATE_HOSTS: '127.0.0.1',
    // All of a workspace's replies are one person's.
    TURNS_PER_HOUR_PERSON: '0',
    DATABASE_URL: databaseUrl,
  });
  const log = createLogger({ level: 'info', redaction: new Redactor(secretValues(config)) });
  const database = await openDatabase({ url: databaseUrl, log });
  const watch = new Telemetry(log).watch({
    stats: () => readStats(database.kysely, ''),
    messagesLeft: () => ({}),
    largestFile: 0,
    heldThreads: () => jobs.count(JOB_KIND.turn),
    findTrouble: async () => undefined,
    missingScopes: () => [],
    rejectedSettings: () => [],
    deafWorkspaces: () => 0,
    slackConnections: () => undefined,
    rejectedWorkspaceCredentials: () => ({ token: 0, key: 0 }),
  });
  const store = new Store(database.kysely, watch.onTurnStep);
  const rateLimitStore = watch.withPermitMetrics(new SharedRateLimits(database.kysely));
  const workspaces = new Map<string, WorkspaceClient>();
  const accounts = new Map<string, { agent: AgentClient; rate: ReadRate }>();
  // All accounts are at one service: they share its connections.
  const connections = new Agent({ allowH2: false });
  for (const token of where.tokens) {
    const { installation, name } = await identifyToken({ token, slackApiUrl: where.slackApiUrl, log });
    const { workspace, botUser, botId } = installation;
    await store.workspaces.put({ workspace, name, bot_user_id: botUser, bot_id: botId });
    workspaces.set(
      workspace,
      createWorkspaceClient(
        installation,
        {
          slackApiUrl: where.slackApiUrl,
          rateLimitStore,
          isDistributed: false,
          showAgentSessions: false,
          editsPerMinute: RELAY_LIMITS.editsPerMinute,
          maxFileBytes: 0,
          onCall: watch.onSlackCall,
          onEdit: watch.onSlackEdit,
          log,
        },
        new CredentialGate({ setting: `SLACK_BOT_TOKEN of ${workspace}`, log }),
      ),
    );
    const rate = new ReadRate(readsPerSecond);
    const agent = new AgentClient({
      baseUrl: where.agentUrl,
      apiKey: serviceKeyOf(workspace),
      serviceOptions: config.AGENT_DIALECT,
      allowedHosts: config.PRIVATE_HOSTS,
      beforeRead: (signal) => rate.waitForPauseEnd(signal),
      onRateLimited: (pauseMs) => rate.pauseFor(pauseMs),
      onAttempt: watch.onServiceAttempt,
      dispatcher: connections,
      log,
    });
    accounts.set(workspace, { agent, rate });
  }
  const account = (id: string) => {
    const found = accounts.get(id);
    if (found === undefined) throw new Error(`There is no account ${id}.`);
    return found;
  };
  const deps: RelayDeps = {
    store,
    log,
    settings: relaySettings(config, undefined, { ...RELAY_LIMITS, atOncePerson: 0 }),
    workspace: (id) => workspaces.get(id),
    enqueue: () => Promise.reject(new Error('nothing here asks for a turn in a transaction')),
    rendering: new RenderQueue(),
    replyMemory: new ReplyMemory(),
    agent: (id) => account(id).agent,
    readRate: (id) => account(id).rate,
    accountOf: (workspace) => workspace,
  };
  const leaseStore = new Store(database.leaseKysely, watch.onTurnStep);
  const jobs = new JobRunner({ store, leaseStore, log, onRun: () => undefined });
  const runner = new TurnRunner(deps, async (workspace) => workspaces.get(workspace));
  jobs.add(turnJobs(runner, DRAIN_MS));
  jobs.start();
  const inbox = new Inbox({
    ...deps,
    rowsKeptDays: 90,
    recordJob: (write) => jobs.record(JOB_KIND.turn, write),
    onStopMessage: async () => 'nothing',
  });
  return { parts: deps, jobs, inbox };
}

let running: Awaited<ReturnType<typeof start>> | undefined;

function relay() {
  if (running === undefined) throw new Error('The relay has not been started.');
  return running;
}

serve({
  start: async (value) => {
    running = await start(startRequestSchema.parse(value));
  },
  accept: async (value) => {
    const { inbox, parts: deps } = relay();
    const accept = async ({ workspace, channel, person, ts, text }: z.infer<typeof questionSchema>) => {
      const bot = deps.workspace(workspace)?.bot;
      if (bot === undefined) throw new Error(`There is no workspace ${workspace}.`);
      const message = { workspace, channel, ts, thread_ts: ts, person };
      const arrival = { kind: 'message' as const, message: { ...message, content: { text } } };
      // Slack sends again what could not be written down.
      while (!(await inbox.accept(arrival, bot).then(Boolean, () => false))) await sleep(1_000);
    };
    const waiting = z.array(questionSchema).parse(value);
    const some = async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await accept(one);
    };
    await Promise.all(Array.from({ length: 8 }, some));
  },
  /** When no turn is held any more. */
  idle: async () => {
    while (relay().jobs.count(JOB_KIND.turn) > 0) await sleep(50);
  },
  /** Hands all turns over, as at a stop. */
  stop: () => relay().jobs.stop(),
  took: () => {
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1_000, at: performance.now(), held: relay().jobs.count(JOB_KIND.turn) };
  },
  /** Right after forced collections of all there is: the first ones let finalizers go on, whose garbage the last one takes. */
  memory: async () => {
    const collect = globalThis.gc;
    if (collect === undefined) throw new Error('Run with --expose-gc.');
    const seen: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await sleep(20);
      collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
      const { heapUsed, external } = process.memoryUsage();
      seen.push(heapUsed + external);
    }
    return { bytes: Math.min(...seen) };
  },
});
