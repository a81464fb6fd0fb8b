import type { RequestListener } from 'node:http';
import { App, type Authorize, HTTPReceiver, type ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';
import { mostBodyBytes } from './bodies.ts';
import { boltLogger } from './bolt-logger.ts';
import { Connections, type ConnectionsState } from './connections.ts';
import { guarded } from './http-guard.ts';
import { type InstallingParts, installingPages } from './installing.ts';
import type { Intake } from './intake.ts';
import type { Sharing } from './sharing.ts';

/** How events come: by Socket Mode, or by signed HTTP requests. */
export type Transport =
  | { kind: 'socket'; appToken: string; sharing: Sharing }
  | { kind: 'http'; signingSecret: string };

/** What listening needs. */
export interface SlackAppParts {
  transport: Transport;
  intake: Intake;
  /** What listens to presses, commands and the like: each adds its own listeners to the app. */
  listeners: readonly ((app: App) => void)[];
  authorize: Authorize<boolean>;
  /** How workspaces install the app by OAuth; left out where there is but one, by the settings. */
  installing?: InstallingParts | undefined;
  slackApiUrl: string;
  /** Hears when events can come again: a connection of Socket Mode stands. */
  onLive: () => void;
  log: Logger;
}

/**
 * What must not be lost is written down before an event is acknowledged, and nothing else comes before that. A throw
 * leaves the event unacknowledged, and Slack sends it again.
 */
class WritingApp extends App {
  intake: Intake | undefined;
  log: Logger | undefined;

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const taken = await this.intake?.accept(event.body);
    let acknowledged = false;
    const ack: ReceiverEvent['ack'] = async (response) => {
      if (acknowledged) return;
      acknowledged = true;
      await event.ack(response);
    };
    if (taken !== undefined) await ack();
    if (taken === 'message') return;
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
  readonly #connections: Connections | undefined;
  #started = false;

  constructor(parts: SlackAppParts) {
    const { transport, slackApiUrl, log } = parts;
    const logger = boltLogger(log);
    let events: RequestListener | undefined;
    let receiver: Connections | HTTPReceiver;
    if (transport.kind === 'http') {
      receiver = httpReceiver(transport.signingSecret, parts);
      events = guarded(receiver.requestListener);
      this.#connections = undefined;
    } else {
      receiver = new Connections({ ...transport, slackApiUrl, onLive: parts.onLive, log });
      this.#connections = receiver;
    }
    const { installing } = parts;
    this.requestListener = installing === undefined ? events : installingPages(installing, events, log);
    const app = new WritingApp({
      receiver,
      authorize: parts.authorize,
      clientOptions: {
        slackApiUrl,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
      },
      logger,
      deferInitialization: false,
    });
    app.intake = parts.intake;
    app.log = log;
    for (const listen of parts.listeners) listen(app);
    app.error(async (error) => {
      log.error({ err: error }, 'a listener failed');
    });
  }

  /** Whether events of Slack can reach this process now. */
  get receiving(): boolean {
    if (!this.#started) return false;
    return this.#connections === undefined || this.#connections.state.live > 0;
  }

  /** The connections of Socket Mode; undefined with events by HTTP. */
  get connections(): ConnectionsState | undefined {
    return this.#connections?.state;
  }

  /**
   * Opens this process's connections; with events by HTTP the server that serves `requestListener` is all there is.
   * Throws AppTokenRefused; whatever else Slack says is tried again without an end.
   */
  async start(): Promise<void> {
    await this.#connections?.start();
    this.#started = true;
  }

  /** Takes no more events. */
  async stop(): Promise<void> {
    this.#started = false;
    await this.#connections?.stop();
  }
}

function httpReceiver(signingSecret: string, { log }: SlackAppParts): HTTPReceiver {
  const logger = boltLogger(log);
  return new HTTPReceiver({ signingSecret, logger, bodyLimit: mostBodyBytes });
}
