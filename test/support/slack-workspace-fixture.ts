import { App, HTTPReceiver, LogLevel, SocketModeReceiver } from '@slack/bolt';
import { WebAPIPlatformError, WebClient } from '@slack/web-api';
import { onTestFinished } from 'vitest';
import {
  type SlackWorkspace,
  type SlackWorkspaceOptions,
  seededRandom,
  startSlackWorkspace,
} from '../../sandbox/slack/slack-workspace.ts';

/** A clock that moves only when it is told to. */
export class SteppedClock {
  time = 1_800_000_000_000;
  now(): number {
    return this.time;
  }
  pass(ms: number): void {
    this.time += ms;
  }
}

/** A workspace without rate limits that stops with the test. */
export async function workspace(options: SlackWorkspaceOptions = {}): Promise<SlackWorkspace> {
  const slack = await startSlackWorkspace({
    limits: 'off',
    random: seededRandom(7),
    retryScale: 0.001,
    shareDelayMs: 20,
    ...options,
  });
  onTestFinished(() => slack.stop());
  return slack;
}

/** A workspace with a person, a channel that the bot is in, and a client that never retries. */
export async function workspaceWithBot(options: SlackWorkspaceOptions = {}) {
  const slack = await workspace(options);
  const ann = slack.createPerson({ name: 'ann' });
  const channel = slack.createChannel({ name: 'lab' });
  return { slack, ann, channel, client: client(slack) };
}

export function client(slack: SlackWorkspace, token = slack.botToken): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
    logger: silent,
  });
}

const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

/** The error code of a call that must be refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof WebAPIPlatformError) return error.data.error;
    throw error;
  }
  throw new Error('The call was not refused.');
}

/** A real Bolt app over Socket Mode, not yet started. It does not connect again by itself: see `reconnectOnClose`. */
export function socketApp(slack: SlackWorkspace): { app: App; receiver: SocketModeReceiver } {
  const clientOptions = { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, logger: silent };
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    autoReconnectEnabled: false,
    clientPingTimeout: 60_000,
    logger: silent,
    installerOptions: { clientOptions: { ...clientOptions } },
  });
  const app = new App({ token: slack.botToken, receiver, clientOptions, logger: silent });
  return { app, receiver };
}

/** Starts the app and stops it with the test. */
export async function running(app: App): Promise<void> {
  await app.start();
  onTestFinished(async () => {
    await app.stop();
  });
}

/**
 * Connects anew whenever the connection ends, until the test ends. The client's own way of doing so may fail
 * when the workspace stops, where nobody can catch it.
 */
export function reconnectOnClose({ client }: SocketModeReceiver): void {
  const again = () => void client.start().catch(() => undefined);
  client.on('disconnected', again);
  onTestFinished(() => {
    client.off('disconnected', again);
  });
}

/** A real Bolt app over HTTP, started on a free port. */
export async function httpApp(slack: SlackWorkspace): Promise<{ app: App; url: string }> {
  const receiver = new HTTPReceiver({ signingSecret: slack.signingSecret, logger: silent });
  const app = new App({
    token: slack.botToken,
    receiver,
    clientOptions: { slackApiUrl: slack.apiUrl },
    logger: silent,
  });
  const server = await receiver.start(0);
  onTestFinished(async () => {
    await receiver.stop();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { app, url: `http://127.0.0.1:${port}/slack/events` };
}

/** Resolves once `test` is true. */
export async function until(test: () => boolean, ms = 5000): Promise<void> {
  const end = Date.now() + ms;
  while (!test()) {
    if (Date.now() > end) throw new Error('It did not happen in time.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
