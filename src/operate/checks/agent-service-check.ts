import { probeAccount } from '../../agent/account-probe.ts';
import { type Check, CheckFailed, errorMessage } from './check-result.ts';

/** Checks the service's address and key, with a read-only request. */
export const checkAgentService: Check = async function* (config) {
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  if (baseUrl === undefined || apiKey === undefined)
    return yield 'each workspace sets its own account in the Home tab';
  const { AGENT_DIALECT: dialect, PRIVATE_HOSTS: allowedHosts } = config;
  const probe = probeAccount({ baseUrl, apiKey, serviceOptions: dialect, allowedHosts });
  const found = await probe.catch((error: unknown) => {
    if (error instanceof TypeError) throw error;
    const message = `AGENT_BASE_URL does not work: ${errorMessage(error)}${privateAddressHint(error)}`;
    throw new CheckFailed(message);
  });
  if (found === 'good') return yield `${new URL(baseUrl).host} accepts the key`;
  const problem = {
    bad_key: 'The service rejects AGENT_API_KEY. Get a valid key from the account page of the service.',
    no_service:
      'AGENT_BASE_URL accepts even a wrong key, so it is not the service. Check the address; it ends with the version (…/v1).',
  }[found];
  throw new CheckFailed(problem);
};

/** Host names that resolve to a private address are refused when the connection opens. */
function privateAddressHint(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (at.message.includes('private address'))
      return ' The host has a private address: add it to PRIVATE_HOSTS.';
  }
  return '';
}
