import { unknownLink } from '../result-route.ts';
import { type Check, fine, wrong } from './finding.ts';
import { nothingAnswers, somethingElse } from './public-address.ts';

const answerMs = 10_000;

/** Links of ours to results: a Taskthread that makes them says of one that is none that it leads nowhere. */
export const checkLinks: Check = async (config) => {
  const what = 'result links';
  if (!config.STABLE_LINKS || config.PUBLIC_URL === undefined) return [];
  const url = new URL('/results/', config.PUBLIC_URL);
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs) });
    if ((await answer.text()) !== unknownLink) return [wrong(what, somethingElse(url, answer.status))];
    return [fine(what, `${url.origin} leads to Taskthread`)];
  } catch {
    return [wrong(what, nothingAnswers(url))];
  }
};
