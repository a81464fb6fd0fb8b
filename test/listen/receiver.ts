import { createHmac } from 'node:crypto';
import { afterAll } from 'vitest';
import { type ControlListeners, listenToControls } from '../../src/listen/controls.ts';
import { Intake } from '../../src/listen/intake.ts';
import { SlackApp } from '../../src/listen/slack-app.ts';
import { HealthServer } from '../../src/operate/health.ts';
import type { Admission } from '../../src/relay/arriving/arrivals.ts';
import { Inbox } from '../../src/relay/arriving/inbox.ts';
import type { ControlOutcome, ControlRequest } from '../../src/relay/controls/control.ts';
import { Admissions } from '../../src/store/admissions.ts';
import { ThreadQueue } from '../../src/store/queue.ts';
import { Store } from '../../src/store/store.ts';
import { silent } from '../silent.ts';
import { freshDatabase } from '../store/postgres.ts';

const signingSecret = 'a-signing-secret';

/** What came through the receiver. */
export interface Receiver {
  store: Store;
  port: number;
  admissions: Admission[];
  controls: (ControlRequest & { control: string })[];
  /** Sends a body as Slack does; `at` is the request's time in seconds. */
  send(
    body: string,
    options?: {
      form?: boolean;
      secret?: string;
      at?: number;
      path?: string;
      headers?: Record<string, string>;
    },
  ): Promise<Response>;
  /** Makes the next `times` writes fail. */
  breakStore(times: number): void;
}

class FragileAdmissions extends Admissions {
  /** So many writes fail. */
  broken = 0;

  override async admit(...[message]: Parameters<Admissions['admit']>): ReturnType<Admissions['admit']> {
    this.broken -= 1;
    if (this.broken >= 0) throw new Error('the disk is full');
    return super.admit(message);
  }
}

class FragileStore extends Store {
  override readonly admissions = new FragileAdmissions(this.db);
}

/** The real HTTP receiver with the real inbox on a database of its own; Slack itself is not called. */
export async function openReceiver(
  bots: Record<string, { userId: string; botId: string }>,
): Promise<Receiver> {
  const database = await freshDatabase();
  const store = new FragileStore(database.kysely);
  const queue = new ThreadQueue({ database, log: silent });
  await queue.start();
  afterAll(() => queue.stop());
  const admissions: Admission[] = [];
  const controls: Receiver['controls'] = [];
  const inbox = new Inbox({
    store,
    enqueue: (thread) => queue.sendSoon(thread),
    stopSaid: async () => 'nothing',
    accountOf: () => 'settings',
  });
  const heard =
    (control: string) =>
    async (request: ControlRequest): Promise<ControlOutcome> => {
      controls.push({ ...request, control });
      return 'done';
    };
  const listeners: ControlListeners = {
    stop: heard('stop'),
    continue: heard('continue'),
    retry: heard('retry'),
    freshLinks: heard('fresh links'),
    correct: heard('correct'),
    go: heard('go'),
    takeBack: heard('take back'),
  };
  const slackApp = new SlackApp({
    transport: { kind: 'http', signingSecret },
    intake: new Intake({
      inbox,
      bot: async ({ workspace }) => bots[workspace],
      onEvent: () => undefined,
      onAdmission: (admission) => admissions.push(admission),
      onSign: async () => 'ignored',
      log: silent,
    }),
    listeners: [(app) => listenToControls(app, listeners, async () => undefined, silent)],
    authorize: async () => ({ botToken: 'xoxb-nobody', botUserId: 'U0', botId: 'B0' }),
    slackApiUrl: 'http://127.0.0.1:9/',
    onLive: () => undefined,
    log: silent,
  });
  const server = new HealthServer({
    database: async () => true,
    draining: () => false,
    report: () => ({}),
    fallback: slackApp.requestListener,
  });
  const port = await server.start(0, '127.0.0.1');
  afterAll(() => server.stop());
  return {
    store,
    port,
    admissions,
    controls,
    breakStore: (times) => {
      store.admissions.broken = times;
    },
    send: (body, options = {}) => {
      const at = String(options.at ?? Math.floor(Date.now() / 1_000));
      const signed = createHmac('sha256', options.secret ?? signingSecret).update(`v0:${at}:${body}`);
      const type = options.form === true ? 'application/x-www-form-urlencoded' : 'application/json';
      return fetch(`http://127.0.0.1:${port}${options.path ?? '/slack/events'}`, {
        method: 'POST',
        body,
        headers: {
          'content-type': type,
          'x-slack-request-timestamp': at,
          'x-slack-signature': `v0=${signed.digest('hex')}`,
          ...options.headers,
        },
      });
    },
  };
}
