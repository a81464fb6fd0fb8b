import { createHmac, randomUUID } from 'node:crypto';
import type { RequestInit, Response } from 'undici';
import { probeAccount } from '../../agent/account-probe.ts';
import { AgentError } from '../../agent/errors.ts';
import { fetch } from '../../calls/outbound-proxy.ts';
import { errorMessage } from '../../postgres/errors.ts';
import { UNKNOWN_LINK_TEXT } from '../result-link-pages.ts';
import { type Check, unreachable } from './check-result.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/** Checks whether the install page redirects to Slack with our client ID. */
export const checkInstallPage: Check = async function* (config) {
  const { PUBLIC_URL, SLACK_CLIENT_ID } = config;
  if (SLACK_CLIENT_ID === undefined || PUBLIC_URL === undefined) return;
  const url = new URL('/slack/install', PUBLIC_URL);
  const response = await request(url);
  await response.body?.cancel();
  const clientId = URL.parse(response.headers.get('location') ?? '')?.searchParams.get('client_id');
  if (response.status !== 302 || clientId == null) throw wrongServer(url, response);
  if (clientId !== SLACK_CLIENT_ID)
    throw new Error(
      'Taskthread at PUBLIC_URL runs with a different SLACK_CLIENT_ID. Restart it with these settings.',
    );
  yield `workspaces install the app at ${url.href}`;
};

/** Sends PUBLIC_URL the challenge that Slack sends: only Taskthread with the same signing secret returns it. */
export const checkEventAddress: Check = async function* (config, { now }) {
  const { PUBLIC_URL, SLACK_SIGNING_SECRET: secret = '' } = config;
  if (config.SLACK_APP_TOKEN !== undefined) return;
  if (PUBLIC_URL === undefined)
    throw new Error('PUBLIC_URL is not set. Set it to the https address at which Slack reaches PORT.');
  const url = new URL('/slack/events', PUBLIC_URL);
  const challenge = randomUUID();
  const body = JSON.stringify({ type: 'url_verification', challenge });
  const at = String(Math.floor(now() / 1_000));
  const mac = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${mac}`,
  };
  const response = await request(url, { method: 'POST', body, headers });
  if (response.status === 401)
    throw new Error(
      'Taskthread at PUBLIC_URL rejects the signature. It runs with a different SLACK_SIGNING_SECRET, or a clock is wrong.',
    );
  if (!response.ok || !(await response.text()).includes(challenge)) throw wrongServer(url, response);
  yield `${url.origin} leads to Taskthread; only Slack can tell whether SLACK_SIGNING_SECRET is right`;
};

/** Checks whether result links reach Taskthread, which answers an invalid one with a known text. */
export const checkResultLinks: Check = async function* ({ STABLE_LINKS, PUBLIC_URL }) {
  if (!STABLE_LINKS || PUBLIC_URL === undefined) return;
  const url = new URL('/results/', PUBLIC_URL);
  const response = await request(url);
  if ((await response.text()) !== UNKNOWN_LINK_TEXT) throw wrongServer(url, response);
  yield `${url.origin} leads to Taskthread`;
};

async function request(url: URL, options: RequestInit = {}): Promise<Response> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  return fetch(url, { ...options, redirect: 'manual', signal }).catch((cause: unknown) => {
    const message = `Nothing answers at PUBLIC_URL (${url.origin}). Start Taskthread, and check DNS and the proxy.`;
    throw new Error(message, { cause });
  });
}

function wrongServer({ origin, pathname }: URL, { status }: Response): Error {
  return new Error(
    `PUBLIC_URL (${origin}) leads to a different server (status ${status}). Route ${pathname} to Taskthread.`,
  );
}

/** Checks the service's address and key, with a read-only request. */
export const checkAgentService: Check = async function* (config) {
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  if (baseUrl === undefined || apiKey === undefined)
    return yield 'each workspace sets its own account in the Home tab';
  const { AGENT_DIALECT: dialect, PRIVATE_HOSTS: allowedHosts } = config;
  const probe = probeAccount({ baseUrl, apiKey, serviceOptions: dialect, allowedHosts });
  const found = await probe.catch((error: unknown) => {
    if (error instanceof TypeError) throw error;
    throw describeFailure(error);
  });
  if (found === 'good') return yield `${new URL(baseUrl).host} accepts the key`;
  const problem = {
    bad_key: 'The service rejects AGENT_API_KEY. Get a valid key from the account page of the service.',
    no_service:
      'AGENT_BASE_URL accepts even a wrong key, so it is not the service. Check the address; it ends with the version (…/v1).',
  }[found];
  throw new Error(problem);
};

function describeFailure(error: unknown): Error {
  if (error instanceof AgentError && error.code === 'unavailable' && error.status === undefined)
    return unreachable('AGENT_BASE_URL', error.cause, 'timed_out');
  return new Error(`AGENT_BASE_URL does not work: ${errorMessage(error)}`);
}
