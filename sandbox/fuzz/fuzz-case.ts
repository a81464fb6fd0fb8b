import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneOf } from '../chaos/random-streams.ts';
import type { Random } from '../slack/ids.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import {
  type EventIdentities,
  interaction,
  mentionEvent,
  silentEvent,
  staysSilent,
  wrapEvent,
} from './event-samples.ts';
import { mutate } from './mutation.ts';

/** One request to send. */
export interface FuzzCase {
  kind: 'event' | 'interaction';
  /** The body; a string is sent unchanged and may be invalid JSON. */
  body: unknown;
  /** Its signature over HTTP; the receiver must refuse all but `valid`. */
  signature: 'valid' | 'wrong' | 'missing' | 'old' | 'future';
}

/** The id prefix of channels in which no event may have an effect. */
export const SILENT_CHANNEL_PREFIX = 'CSILENT';

/** An endless stream of cases, the same for the same random numbers. */
export function* fuzzCases(identities: EventIdentities, random: Random): Generator<FuzzCase> {
  for (let number = 1; ; number += 1) yield oneCase(identities, random, number);
}

function oneCase(identities: EventIdentities, random: Random, number: number): FuzzCase {
  const channel = `${SILENT_CHANNEL_PREFIX}${number}`;
  const ts = `17${String(number).padStart(8, '0')}.000100`;
  const eventId = `EvFuzz${number}`;
  const roll = random();
  // A mention with an invalid signature must have no effect.
  if (roll < 0.05) {
    const body = wrapEvent(identities, mentionEvent(identities, channel, ts), eventId);
    return { kind: 'event', body, signature: oneOf(random, ['wrong', 'missing', 'old', 'future']) };
  }
  if (roll < 0.08)
    return { kind: 'event', body: malformedBody(identities, channel, ts, random), signature: 'valid' };
  if (roll < 0.12) {
    const body = interaction(identities, channel, random);
    return { kind: 'interaction', body: random() < 0.5 ? body : mutate(body, random), signature: 'valid' };
  }
  // Mutated mentions in unknown channels: only a few, because each may start a turn.
  if (roll < 0.123) {
    const body = wrapEvent(identities, mentionEvent(identities, `CLOUD${number}`, ts), eventId);
    return { kind: 'event', body: random() < 0.3 ? body : mutate(body, random), signature: 'valid' };
  }
  if (roll < 0.143) {
    const stranger = { ...identities, workspace: 'TSTRANGER' };
    return {
      kind: 'event',
      body: wrapEvent(stranger, mentionEvent(identities, channel, ts), eventId),
      signature: 'valid',
    };
  }
  const event = silentEvent(identities, channel, ts, random);
  const body = wrapEvent(identities, event, eventId);
  const isMutated = staysSilent(event, identities) && random() < 0.7;
  return {
    kind: 'event',
    body: isMutated ? { ...body, event: mutate(event, random) } : body,
    signature: 'valid',
  };
}

/** A body that is invalid JSON, or JSON without an event. */
function malformedBody(identities: EventIdentities, channel: string, ts: string, random: Random): string {
  const whole = JSON.stringify(wrapEvent(identities, silentEvent(identities, channel, ts, random), 'EvTorn'));
  const cut = whole.slice(0, Math.floor(random() * whole.length));
  return oneOf(random, [
    cut,
    '',
    'null',
    '[]',
    '0',
    '"text"',
    '{}',
    `${whole}${whole}`,
    `\u0000${whole}`,
    '{"type":1}',
  ]);
}

const REQUEST_TIMEOUT_MS = 60_000;
const NO_CONNECTION_PAUSE_MS = 1_000;

/** Sends a case as Slack does; `unsigned`: the receiver had to refuse it. @throws without a response within a minute */
export async function sendByHttp(
  port: number,
  signingSecret: string,
  { kind, body, signature }: FuzzCase,
): Promise<{ status: number; unsigned: boolean }> {
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
  if (typeof body === 'string') return slack.sendFrame(body);
  const outcome = await slack.deliverRaw(kind === 'event' ? 'events_api' : 'interactive', body);
  // Without a connection all events would be over at once.
  if (!outcome.acked && outcome.reason === 'connection_failed') await sleep(NO_CONNECTION_PAUSE_MS);
}
