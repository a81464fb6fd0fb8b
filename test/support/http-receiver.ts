import { createHmac } from 'node:crypto';
import { afterAll } from 'vitest';
import { EventIntake } from '../../src/listeners/event-intake.ts';
import { registerButtons } from '../../src/listeners/interactions.ts';
import { SlackApp } from '../../src/listeners/slack-app.ts';
import { HealthServer } from '../../src/operate/http-server.ts';
import { Inbox } from '../../src/relay/inbox/inbox.ts';
import type { ControlOutcome, ControlRequest } from '../../src/relay/runtime/control-request.ts';
import type { InboxOutcome } from '../../src/relay/runtime/incoming-message.ts';
import { Store } from '../../src/store/store.ts';
import { InboxWriter } from '../../src/store/threads/inbox.ts';
import { EVERYWHERE } from './answer-limits.ts';
import { freshDatabase } from './fresh-database.ts';
import { silentLog } from './silent-log.ts';

const SIGNING_SECRET = 'a-signing-secret';

/** What came through the receiver. */
export interface HttpReceiverFixture {
  store: Store;
  port: number;
  admissions: InboxOutcome[];
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

class FailingAdmissions extends InboxWriter {
  /** So many writes fail. */
  broken = 0;

  override async write(...[message]: Parameters<InboxWriter['write']>): ReturnType<InboxWriter['write']> {
    this.broken -= 1;
    if (this.broken >= 0) throw new Error('the disk is full');
    return super.write(message);
  }
}

class FailingStore extends Store {
  override readonly inbox = new FailingAdmissions(this.db);
}

/** The real HTTP receiver with the real inbox on a database of its own; Slack itself is not called. */
export async function openHttpReceiver(
  bots: Record<string, { userId: string; botId: string }>,
): Promise<HttpReceiverFixture> {
  const database = await freshDatabase();
  const store = new FailingStore(database.kysely);
  const admissions: InboxOutcome[] = [];
  const controls: HttpReceiverFixture['controls'] = [];
  const inbox = new Inbox({
    settings: { listenMode: 'conversation', answers: EVERYWHERE, stopWords: [], lookupMs: 1_500 },
    workspace: () => undefined,
    rowsKeptDays: 90,
    store,
    recordJob: (write) => write(undefined),
    onStopMessage: async () => 'nothing',
    accountOf: () => 'settings',
  });
  const heard =
    (control: string) =>
    async (request: ControlRequest): Promise<ControlOutcome> => {
      controls.push({ ...request, control });
      return 'done';
    };
  const listeners = {
    stop: heard('stop'),
    continue: heard('continue'),
    retry: heard('retry'),
    go_ahead: heard('go ahead'),
    stop_here: heard('stop here'),
    send_paused: heard('send paused'),
    discard_paused: heard('discard paused'),
  };
  const slackApp = new SlackApp({
    transport: { kind: 'http', signingSecret: SIGNING_SECRET },
    eventIntake: new EventIntake({
      inbox,
      lateInbox: inbox,
      workspaceFor: async ({ workspace }) => workspace,
      bot: async ({ workspace }) => bots[workspace],
      otherBots: async () => [],
      isHuman: async () => false,
      onEvent: () => undefined,
      onEventHandled: () => undefined,
      onInboxOutcome: (admission) => admissions.push(admission),
      onStopTrigger: async () => 'ignored',
      onMessageGivenUp: () => undefined,
      onEventLost: async () => undefined,
      badThingMs: 600_000,
      hasWrittenAfter: () => false,
      onHomeOpened: () => undefined,
      onWorkflowStep: async () => undefined,
      log: silentLog,
    }),
    authorize: async () => ({ botToken: 'xoxb-nobody', botUserId: 'U0', botId: 'B0' }),
    slackApiUrl: 'http://127.0.0.1:9/',
    log: silentLog,
  });
  const deps = { log: silentLog, workspace: () => undefined };
  registerButtons({ app: slackApp.bolt, log: silentLog, deps }, listeners);
  const server = new HealthServer({
    findTrouble: async () => undefined,
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
      store.inbox.broken = times;
    },
    send: (body, options = {}) => {
      const at = String(options.at ?? Math.floor(Date.now() / 1_000));
      const signed = createHmac('sha256', options.secret ?? SIGNING_SECRET).update(`v0:${at}:${body}`);
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
