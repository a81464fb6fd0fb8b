import { createHmac } from 'node:crypto';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { FuzzCase } from './fuzz-case.ts';

const REQUEST_TIMEOUT_MS = 20_000;

/** What an answer of the HTTP receiver tells. */
export interface HttpResult {
  status: number;
  /** Whether it should have been refused for its signature. */
  unsigned: boolean;
}

/** Sends a case as Slack sends requests; throws where no answer comes. */
export async function sendByHttp(
  port: number,
  signingSecret: string,
  { kind, body, signature }: FuzzCase,
): Promise<HttpResult> {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const text = kind === 'event' ? json : new URLSearchParams({ payload: json }).toString();
  const seconds =
    Math.floor(Date.now() / 1_000) + (signature === 'old' ? -3_600 : signature === 'future' ? 3_600 : 0);
  const secret = signature === 'wrong' ? 'another-secret' : signingSecret;
  const mac = createHmac('sha256', secret).update(`v0:${seconds}:${text}`).digest('hex');
  const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
    method: 'POST',
    body: text,
    headers: {
      'content-type': kind === 'event' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(signature === 'missing'
        ? {}
        : { 'x-slack-request-timestamp': String(seconds), 'x-slack-signature': `v0=${mac}` }),
    },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  await response.body?.cancel();
  return { status: response.status, unsigned: signature !== 'valid' };
}

/**
 * Sends a case to a Socket Mode connection: sound envelopes wait for their acknowledgement (or a second), torn ones
 * are frames that nobody acknowledges. There are no signatures there, so such cases are left out.
 */
export async function sendBySocket(
  slack: SlackWorkspace,
  { kind, body, signature }: FuzzCase,
): Promise<void> {
  if (signature !== 'valid') return;
  if (typeof body === 'string') slack.sendFrame(body);
  else await slack.deliverRaw(kind === 'event' ? 'events_api' : 'interactive', body);
}
