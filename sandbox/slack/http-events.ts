import { createHmac } from 'node:crypto';
import {
  ackWaitMs,
  type Delivery,
  type DeliveryOutcome,
  type DeliveryTransport,
  SILENTLY_LOST,
} from './deliveries.ts';
import type { Clock } from './ids.ts';
import { parseJson } from './model.ts';

/** How long the check of a new address waits for the response (ms). */
const CHALLENGE_TIMEOUT_MS = 3_000;

interface HttpEventsDeps {
  /** The app's address for everything, as with Bolt's receivers. */
  eventsUrl: string;
  signingSecret: string;
  clock: Clock;
  ackTimeoutMs: number;
}

/** Sends signed requests to the app's own server. */
export class HttpEvents implements DeliveryTransport {
  readonly #deps: HttpEventsDeps;
  #isDeaf = false;

  constructor(deps: HttpEventsDeps) {
    this.#deps = deps;
  }

  /** Performs Slack's check of a new events address. @throws if the app does not return the challenge */
  async verify(challenge: string, token: string): Promise<void> {
    const body = JSON.stringify({ type: 'url_verification', challenge, token });
    const outcome = await this.#post(body, 'application/json', {}, CHALLENGE_TIMEOUT_MS);
    const given = outcome.acked ? outcome.body : undefined;
    const echoed =
      typeof given === 'object' && given !== null && 'challenge' in given ? given.challenge : given;
    if (echoed !== challenge) {
      throw new Error(
        `Your URL didn't respond with the value of the challenge parameter: ${this.#deps.eventsUrl}`,
      );
    }
  }

  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    if (delivery.kind === 'events_api') {
      if (this.#isDeaf) return SILENTLY_LOST;
      const retry: Record<string, string> =
        delivery.attempt === 0
          ? {}
          : {
              'x-slack-retry-num': String(delivery.attempt),
              'x-slack-retry-reason':
                delivery.reason === 'timeout' ? 'http_timeout' : (delivery.reason ?? 'unknown_error'),
            };
      const waitMs = ackWaitMs(delivery, this.#deps.ackTimeoutMs);
      return this.#post(JSON.stringify(delivery.payload), 'application/json', retry, waitMs);
    }
    const form =
      delivery.kind === 'interactive'
        ? new URLSearchParams({ payload: JSON.stringify(delivery.payload) })
        : new URLSearchParams(
            Object.entries(delivery.payload).map(([name, value]): [string, string] => [name, String(value)]),
          );
    return this.#post(form.toString(), 'application/x-www-form-urlencoded', {});
  }

  goDeaf(): () => void {
    this.#isDeaf = true;
    return () => {
      this.#isDeaf = false;
    };
  }

  async #post(
    body: string,
    type: string,
    headers: Record<string, string>,
    timeoutMs = this.#deps.ackTimeoutMs,
  ): Promise<DeliveryOutcome> {
    const seconds = String(Math.floor(this.#deps.clock.now() / 1000));
    const mac = createHmac('sha256', this.#deps.signingSecret).update(`v0:${seconds}:${body}`).digest('hex');
    try {
      const response = await fetch(this.#deps.eventsUrl, {
        method: 'POST',
        body,
        headers: {
          'content-type': type,
          'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
          'x-slack-request-timestamp': seconds,
          'x-slack-signature': `v0=${mac}`,
          ...headers,
        },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.ok) return text === '' ? { acked: true } : { acked: true, body: parseJson(text) };
      const noRetry = response.headers.get('x-slack-no-retry') === '1';
      return { acked: false, reason: 'http_error', noRetry };
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError';
      return { acked: false, reason: late ? 'http_timeout' : 'connection_failed' };
    }
  }
}
