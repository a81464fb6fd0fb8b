import { parseServiceUrl } from '../agent/network-address.ts';

/** What is wrong with addresses that must be https. A stand-in for Slack speaks http, and may reach us by http. */
export function* insecureAddresses(config: {
  AGENT_BASE_URL?: string | undefined;
  PRIVATE_HOSTS: readonly string[];
  PUBLIC_URL?: string | undefined;
  SLACK_API_URL: string;
}): Iterable<string> {
  const { AGENT_BASE_URL, PRIVATE_HOSTS, PUBLIC_URL, SLACK_API_URL } = config;
  if (PUBLIC_URL?.startsWith('http:') === true && !SLACK_API_URL.startsWith('http:'))
    yield 'PUBLIC_URL must begin with https://. Slack sends events to nothing else, and redirects to nothing else.';
  try {
    if (AGENT_BASE_URL !== undefined) parseServiceUrl(AGENT_BASE_URL, new Set(PRIVATE_HOSTS));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    yield error.message;
  }
}
