import { fetch } from 'undici';
import { type Check, CheckFailed, errorMessage, SlackUnreachable } from './check-result.ts';

/** How far our clock may be off Slack's (ms). Requests five minutes old, or a minute ahead, are rejected. */
const MAX_CLOCK_SKEW_MS = 30_000;
/** Least free space for the embedded database. */
const MIN_FREE_BYTES = 1024 ** 3;
const REQUEST_TIMEOUT_MS = 10_000;

export const checkClock: Check = async function* (config, { now }) {
  const before = now();
  const response = await fetch(new URL('api.test', config.SLACK_API_URL), {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new SlackUnreachable(errorMessage(error));
  });
  await response.body?.cancel();
  const slackTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(slackTime))
    throw new CheckFailed('SLACK_API_URL sends no date. Check that it is the address of the Web API.');
  // Compared with the middle of the request; the header has whole seconds.
  const skew = Math.abs(slackTime + 500 - (before + now()) / 2);
  if (skew <= MAX_CLOCK_SKEW_MS) return yield 'in step with Slack';
  const message = `Our clock and Slack's (SLACK_API_URL) are ${Math.round(skew / 1_000)} s apart. Synchronize ours by NTP.`;
  throw new CheckFailed(message);
};

export const checkDisk: Check = async function* (config, { freeBytes }) {
  if (config.DATABASE_URL !== undefined)
    return yield 'not needed: the data is in the database of DATABASE_URL';
  const free = await freeBytes(config.DATA_FOLDER).catch((error: unknown) => {
    throw new CheckFailed(`Could not read the free space at DATA_FOLDER: ${errorMessage(error)}`);
  });
  const size = `${(free / MIN_FREE_BYTES).toFixed(1)} GiB free at DATA_FOLDER`;
  if (free < MIN_FREE_BYTES) throw new CheckFailed(`Only ${size}. Free at least 1 GiB.`);
  yield size;
};
