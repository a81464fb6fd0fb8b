import { UNKNOWN_LINK_TEXT } from '../result-link-route.ts';
import { type Check, failed, passed } from './check-result.ts';
import { publicUrlUnreachable, publicUrlWrongServer } from './public-url-messages.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/** Checks whether result links reach Taskthread, which answers an invalid one with a known text. */
export const checkResultLinks: Check = async (config) => {
  const what = 'result links';
  if (!config.STABLE_LINKS || config.PUBLIC_URL === undefined) return [];
  const url = new URL('/results/', config.PUBLIC_URL);
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if ((await response.text()) !== UNKNOWN_LINK_TEXT)
      return [failed(what, publicUrlWrongServer(url, response.status))];
    return [passed(what, `${url.origin} leads to Taskthread`)];
  } catch {
    return [failed(what, publicUrlUnreachable(url))];
  }
};
