import type { RequestListener } from 'node:http';
import { App, type Authorize, HTTPReceiver, type ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';
import { askedBy } from '../calls/askers.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { createSlackLogger, webClientOptions } from '../slack/slack-client.ts';
import { parseRequester } from './envelope.ts';
import type { EventIntake } from './event-intake.ts';
import { MAX_BODY_BYTES, type RequestRejection, withRequestValidation } from './http-request-validation.ts';
import { CLOSE_FORM, failureText, keepFormOpen } from './interactions.ts';
import { createOAuthPages, type OAuthPagesDeps } from './oauth-pages.ts';
import { SocketModePool, type SocketModePoolDeps } from './socket-mode-pool.ts';

/** How Slack delivers events: by Socket Mode, or by signed HTTP requests. */
export type EventTransport =
  | ({ kind: 'socket' } & Pick<SocketModePoolDeps, 'appToken' | 'socketLease' | 'onConnected'>)
  | { kind: 'http'; signingSecret: string };

export interface SlackAppDeps {
  transport: EventTransport;
  /** Takes the events; Bolt's listeners the rest. */
  eventIntake?: EventIntake;
  authorize: Authorize<boolean>;
  /** How workspaces install the app by OAuth; left out if the token comes from the settings. */
  oauthPages?: OAuthPagesDeps | undefined;
  slackApiUrl: string;
  onRequestRejected?: (why: RequestRejection) => void;
  log: Logger;
}

/**
 * Records events before it acknowledges them; Bolt would acknowledge first. After a throw, Slack sends them again. A form
 * stays open unless its listener closes it: Bolt also acknowledges what it could not authorize.
 */
class PersistBeforeAckApp extends App {
  eventIntake: EventIntake | undefined;
  log: Logger | undefined;

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const person = parseRequester(event.body);
    await (person === undefined ? this.#process(event) : askedBy(person, () => this.#process(event)));
  }

  async #process(event: ReceiverEvent): Promise<void> {
    if ((await this.eventIntake?.accept(event.body)) === true) return event.ack();
    let acknowledged = false;
    const ack: ReceiverEvent['ack'] = async (response) => {
      if (acknowledged) return;
      acknowledged = true;
      await event.ack(response === CLOSE_FORM ? undefined : (response ?? keepFormOpen(event.body)));
    };
    try {
      await super.processEvent({ ...event, ack });
    } catch (error) {
      // Bolt throws on shapes that it does not expect: another delivery would fail the same.
      this.log?.warn({ err: error }, 'Bolt could not read a request from Slack');
    }
    await ack();
  }
}

/** The Bolt app with its receiver. */
export class SlackApp {
  /** Handles Slack's requests by HTTP, and browsers that install the app. */
  readonly requestListener: RequestListener | undefined;
  /** The Socket Mode connections; undefined with HTTP. */
  readonly socketMode: SocketModePool | undefined;
  readonly #app: PersistBeforeAckApp;
  #started = false;

  constructor(deps: SlackAppDeps) {
    const { transport, slackApiUrl, log } = deps;
    const logger = createSlackLogger(log);
    const receiver =
      transport.kind === 'http'
        ? httpReceiver(transport.signingSecret, deps)
        : new SocketModePool({ ...transport, slackApiUrl, log });
    const isSocket = receiver instanceof SocketModePool;
    this.socketMode = isSocket ? receiver : undefined;
    const events = isSocket
      ? undefined
      : withRequestValidation(receiver.requestListener, deps.onRequestRejected);
    const { oauthPages } = deps;
    this.requestListener = oauthPages === undefined ? events : createOAuthPages(oauthPages, events, log);
    this.#app = new PersistBeforeAckApp({
      receiver,
      // Bolt drops without a word what it cannot authorize: it goes on, to be answered below.
      authorize: (source, body) => deps.authorize(source, body).catch((refusal: unknown) => ({ refusal })),
      clientOptions: webClientOptions(slackApiUrl),
      logger,
      deferInitialization: false,
    });
    this.#app.eventIntake = deps.eventIntake;
    this.#app.log = log;
    this.#app.use(async (args) => {
      const refusal: unknown = args.context.refusal;
      if (refusal === undefined) return args.next();
      if ('respond' in args) {
        const told = { replace_original: false, text: failureText(refusal) };
        const telling = args.respond({ response_type: 'ephemeral', ...told });
        inBackground(telling, log, 'could not answer a request from where the app is not installed');
      }
      throw refusal;
    });
    this.#app.error(async (error) => {
      log.error({ err: error }, 'a listener failed');
    });
  }

  /** Bolt, for the listeners of presses, commands and forms. */
  get bolt(): App {
    return this.#app;
  }

  /** Whether events can reach this process now. */
  get isReceiving(): boolean {
    if (!this.#started) return false;
    return this.socketMode === undefined || this.socketMode.state.live > 0;
  }

  /** Opens the Socket Mode connections. Throws a SlackAuthError; any other failure is retried forever. */
  async start(): Promise<void> {
    await this.socketMode?.start();
    this.#started = true;
  }

  async stop(): Promise<void> {
    this.#started = false;
    await this.socketMode?.stop();
  }
}

function httpReceiver(signingSecret: string, { log }: SlackAppDeps): HTTPReceiver {
  const logger = createSlackLogger(log);
  return new HTTPReceiver({
    signingSecret,
    logger,
    bodyLimit: MAX_BODY_BYTES,
    processEventErrorHandler: async ({ error, response }) => {
      log.debug({ err: error }, 'could not record an event; Slack will send it again');
      if (!response.headersSent) response.writeHead(503).end();
      return true;
    },
  });
}
