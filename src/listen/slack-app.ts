import type { RequestListener } from 'node:http';
import {
  App,
  type Authorize,
  HTTPReceiver,
  type Receiver,
  type ReceiverEvent,
  SocketModeReceiver,
} from '@slack/bolt';
import type { Logger } from 'pino';
import { boltLogger } from './bolt-logger.ts';
import { type ControlListeners, listenToControls, type PlacedPress } from './controls.ts';
import type { Intake } from './intake.ts';

/** How events come: by Socket Mode, or by signed HTTP requests. */
export type Transport = { kind: 'socket'; appToken: string } | { kind: 'http'; signingSecret: string };

/** What listening needs. */
export interface SlackAppParts {
  transport: Transport;
  intake: Intake;
  controls: ControlListeners;
  /** Tells a person something that only they need to know. */
  tell: (press: PlacedPress, sentence: string) => Promise<void>;
  authorize: Authorize<boolean>;
  slackApiUrl: string;
  log: Logger;
}

/** Two sockets side by side: Bolt's client is without a connection for 5 s at each refresh. */
const sockets = 2;

/**
 * Bolt acknowledges an event before its listeners run; what must not be lost is written down before that. A throw
 * leaves the event unacknowledged, and Slack sends it again.
 */
class WritingApp extends App {
  intake: Intake | undefined;

  override async processEvent(event: ReceiverEvent): Promise<void> {
    await this.intake?.accept(event.body);
    await super.processEvent(event);
  }
}

/** The Bolt app with its receivers. */
export class SlackApp {
  /** Serves Slack's requests; only with events by HTTP. */
  readonly requestListener: RequestListener | undefined;
  readonly #receivers: Receiver[];

  constructor(parts: SlackAppParts) {
    const { transport } = parts;
    const logger = boltLogger(parts.log);
    const clientOptions = {
      slackApiUrl: parts.slackApiUrl,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
    };
    if (transport.kind === 'http') {
      const receiver = new HTTPReceiver({
        signingSecret: transport.signingSecret,
        logger,
        processBeforeResponse: true,
      });
      this.requestListener = receiver.requestListener;
      this.#receivers = [receiver];
    } else {
      this.requestListener = undefined;
      this.#receivers = Array.from({ length: sockets }, () => socketReceiver(transport.appToken, parts));
    }
    const [first, ...others] = this.#receivers;
    if (first === undefined) throw new Error('An app needs a receiver.');
    const app = new WritingApp({
      receiver: first,
      authorize: parts.authorize,
      clientOptions,
      logger,
      deferInitialization: false,
    });
    app.intake = parts.intake;
    for (const receiver of others) receiver.init(app);
    listenToControls(app, parts.controls, parts.tell, parts.log);
    app.error(async (error) => {
      parts.log.error({ err: error }, 'a listener failed');
    });
  }

  /** Opens the sockets; with events by HTTP the server that serves `requestListener` is all there is. */
  async start(): Promise<void> {
    if (this.requestListener !== undefined) return;
    await Promise.all(this.#receivers.map((receiver) => receiver.start()));
  }

  /** Takes no more events. */
  async stop(): Promise<void> {
    if (this.requestListener !== undefined) return;
    await Promise.all(this.#receivers.map((receiver) => receiver.stop()));
  }
}

function socketReceiver(appToken: string, parts: SlackAppParts): SocketModeReceiver {
  return new SocketModeReceiver({
    appToken,
    logger: boltLogger(parts.log),
    installerOptions: { clientOptions: { slackApiUrl: parts.slackApiUrl, allowAbsoluteUrls: false } },
  });
}
