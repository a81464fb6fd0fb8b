import { createHmac } from 'node:crypto';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { FuzzCase } from './fuzz-case.ts';

const REQUEST_TIMEOUT_MS = 20_000;

/** A response of the HTTP receiver. */
export interface HttpResult {
  status: number;
  /** Whether the receiver had to refuse it because of its signature. */
  unsigned: boolean;
}

/** Sends a case as Slack does. @throws without a response within 20 s */
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
 * Sends a case over Socket Mode. Valid envelopes wait up to a second for their acknowledgement; malformed frames do not
 * wait. Cases with an invalid signature are skipped, because Socket Mode has no signatures.
 */
export async function sendBySocket(
  slack: SlackWorkspace,
  { kind, body, signature }: FuzzCase,
): Promise<void> {
  if (signature !== 'valid') return;
  if (typeof body === 'string') slack.sendFrame(body);
  else await slack.deliverRaw(kind === 'event' ? 'events_api' : 'interactive', body);
}
