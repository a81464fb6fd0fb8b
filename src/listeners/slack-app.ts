import type { RequestListener } from 'node:http';
import { App, type Authorize, HTTPReceiver, type ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';
import { createBoltLogger } from './bolt-logger.ts';
import type { EventIntake } from './event-intake.ts';
import { withRequestValidation } from './http-request-validation.ts';
import { createOAuthPages, type OAuthPagesDeps } from './oauth-pages.ts';
import { MAX_BODY_BYTES } from './request-body-reader.ts';
import type { SocketLease } from './socket-lease.ts';
import { SocketModePool, type SocketModePoolState } from './socket-mode-pool.ts';

/** How events come: by Socket Mode, or by signed HTTP requests. */
export type EventTransport =
  | { kind: 'socket'; appToken: string; socketLease: SocketLease }
  | { kind: 'http'; signingSecret: string };

/** What listening needs. */
export interface SlackAppDeps {
  transport: EventTransport;
  eventIntake: EventIntake;
  /** What listens to presses, commands and the like: each adds its own listeners to the app. */
  listeners: readonly ((app: App) => void)[];
  authorize: Authorize<boolean>;
  /** How workspaces install the app by OAuth; left out where there is but one, by the settings. */
  oauthPages?: OAuthPagesDeps | undefined;
  slackApiUrl: string;
  /** Hears when events can come again: a connection of Socket Mode stands. */
  onConnected: () => void;
  log: Logger;
}

/**
 * What must not be lost is written down before an event is acknowledged, and nothing else comes before that. A throw
 * leaves the event unacknowledged, and Slack sends it again.
 */
class PersistBeforeAckApp extends App {
  eventIntake: EventIntake | undefined;
  log: Logger | undefined;

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const handled = await this.eventIntake?.accept(event.body);
    let acknowledged = false;
    const ack: ReceiverEvent['ack'] = async (response) => {
      if (acknowledged) return;
      acknowledged = true;
      await event.ack(response);
    };
    if (handled !== undefined) await ack();
    if (handled === 'message') return;
    try {
      await super.processEvent({ ...event, ack });
    } catch (error) {
      // Bolt trips over shapes that it does not expect; what matters was written down, and again would be no better.
      this.log?.warn({ err: error }, 'Bolt cannot read what Slack sent');
    }
    // Nobody listens to presses on links, nor to buttons that only an older version had.
    await ack();
  }
}

/** The Bolt app with its receiver. */
export class SlackApp {
  /** Serves Slack's requests, with events by HTTP, and those of browsers that install the app. */
  readonly requestListener: RequestListener | undefined;
  readonly #socketMode: SocketModePool | undefined;
  #started = false;

  constructor(deps: SlackAppDeps) {
    const { transport, slackApiUrl, log } = deps;
    const logger = createBoltLogger(log);
    let events: RequestListener | undefined;
    let receiver: SocketModePool | HTTPReceiver;
    if (transport.kind === 'http') {
      receiver = httpReceiver(transport.signingSecret, deps);
      events = withRequestValidation(receiver.requestListener);
      this.#socketMode = undefined;
    } else {
      receiver = new SocketModePool({ ...transport, slackApiUrl, onConnected: deps.onConnected, log });
      this.#socketMode = receiver;
    }
    const { oauthPages } = deps;
    this.requestListener = oauthPages === undefined ? events : createOAuthPages(oauthPages, events, log);
    const app = new PersistBeforeAckApp({
      receiver,
      authorize: deps.authorize,
      clientOptions: {
        slackApiUrl,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
      },
      logger,
      deferInitialization: false,
    });
    app.eventIntake = deps.eventIntake;
    app.log = log;
    for (const listen of deps.listeners) listen(app);
    app.error(async (error) => {
      log.error({ err: error }, 'a listener failed');
    });
  }

  /** Whether events of Slack can reach this process now. */
  get isReceiving(): boolean {
    if (!this.#started) return false;
    return this.#socketMode === undefined || this.#socketMode.state.live > 0;
  }

  /** The connections of Socket Mode; undefined with events by HTTP. */
  get socketModeState(): SocketModePoolState | undefined {
    return this.#socketMode?.state;
  }

  /**
   * Opens this process's connections; with events by HTTP the server that serves `requestListener` is all there is.
   * Throws AppTokenRefused; whatever else Slack says is tried again without an end.
   */
  async start(): Promise<void> {
    await this.#socketMode?.start();
    this.#started = true;
  }

  /** Takes no more events. */
  async stop(): Promise<void> {
    this.#started = false;
    await this.#socketMode?.stop();
  }
}

function httpReceiver(signingSecret: string, { log }: SlackAppDeps): HTTPReceiver {
  const logger = createBoltLogger(log);
  return new HTTPReceiver({ signingSecret, logger, bodyLimit: MAX_BODY_BYTES });
}
