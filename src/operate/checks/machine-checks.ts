import { type Check, fine, sayingOf, wrong } from './finding.ts';

/** How far our clock may be from Slack's (ms): signatures are refused after five minutes, or a minute ahead. */
const mostSkewMs = 30_000;
/** Room that the embedded database should have at least. */
const leastBytes = 1024 ** 3;
const answerMs = 10_000;

/** Our clock, against Slack's. */
export const checkClock: Check = async (config, { now }) => {
  const what = 'clock';
  try {
    const before = now();
    const answer = await fetch(new URL('api.test', config.SLACK_API_URL), {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMs),
    });
    await answer.body?.cancel();
    const there = Date.parse(answer.headers.get('date') ?? '');
    if (Number.isNaN(there))
      return [wrong(what, 'SLACK_API_URL tells no time: is it the address of the Web API?')];
    // Half way between the question and its answer; the header has whole seconds.
    const skew = Math.abs(there + 500 - (before + now()) / 2);
    if (skew <= mostSkewMs) return [fine(what, 'as Slack’s')];
    const says = `Our clock and Slack's are ${Math.round(skew / 1_000)} s apart (SLACK_API_URL): keep it by NTP.`;
    return [wrong(what, says)];
  } catch (error) {
    return [wrong(what, `SLACK_API_URL cannot be asked for the time: ${sayingOf(error)}`)];
  }
};

/** Room for the embedded database. */
export const checkDisk: Check = async (config, { freeBytes }) => {
  const what = 'disk';
  if (config.DATABASE_URL !== undefined) return [fine(what, 'nothing is kept on this machine')];
  try {
    const free = await freeBytes(config.DATA_FOLDER);
    const says = `${(free / leastBytes).toFixed(1)} GiB are free at DATA_FOLDER`;
    return [free < leastBytes ? wrong(what, `${says}: make room, 1 GiB at least.`) : fine(what, says)];
  } catch (error) {
    return [wrong(what, `DATA_FOLDER cannot be looked at: ${sayingOf(error)}`)];
  }
};
