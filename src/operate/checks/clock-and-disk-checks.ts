import { type Check, errorMessage, failed, passed } from './check-result.ts';

/** How far our clock may be from Slack's (ms): signatures are refused after five minutes, or a minute ahead. */
const MAX_CLOCK_SKEW_MS = 30_000;
/** Room that the embedded database should have at least. */
const MIN_FREE_BYTES = 1024 ** 3;
const REQUEST_TIMEOUT_MS = 10_000;

/** Our clock, against Slack's. */
export const checkClock: Check = async (config, { now }) => {
  const what = 'clock';
  try {
    const before = now();
    const answer = await fetch(new URL('api.test', config.SLACK_API_URL), {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    const slackTime = Date.parse(answer.headers.get('date') ?? '');
    if (Number.isNaN(slackTime))
      return [failed(what, 'SLACK_API_URL tells no time: is it the address of the Web API?')];
    // Half way between the question and its answer; the header has whole seconds.
    const skew = Math.abs(slackTime + 500 - (before + now()) / 2);
    if (skew <= MAX_CLOCK_SKEW_MS) return [passed(what, 'as Slack’s')];
    const says = `Our clock and Slack's are ${Math.round(skew / 1_000)} s apart (SLACK_API_URL): keep it by NTP.`;
    return [failed(what, says)];
  } catch (error) {
    return [failed(what, `SLACK_API_URL cannot be asked for the time: ${errorMessage(error)}`)];
  }
};

/** Room for the embedded database. */
export const checkDisk: Check = async (config, { freeBytes }) => {
  const what = 'disk';
  if (config.DATABASE_URL !== undefined) return [passed(what, 'nothing is kept on this machine')];
  try {
    const free = await freeBytes(config.DATA_FOLDER);
    const says = `${(free / MIN_FREE_BYTES).toFixed(1)} GiB are free at DATA_FOLDER`;
    return [free < MIN_FREE_BYTES ? failed(what, `${says}: make room, 1 GiB at least.`) : passed(what, says)];
  } catch (error) {
    return [failed(what, `DATA_FOLDER cannot be looked at: ${errorMessage(error)}`)];
  }
};
