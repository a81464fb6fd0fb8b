import { probeAccount } from '../../agent/account-probe.ts';
import { AgentError } from '../../agent/errors.ts';
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
    throw new CheckFailed(describeFailure(error));
  });
  if (found === 'good') return yield `${new URL(baseUrl).host} accepts the key`;
  const problem = {
    bad_key: 'The service rejects AGENT_API_KEY. Get a valid key from the account page of the service.',
    no_service:
      'AGENT_BASE_URL accepts even a wrong key, so it is not the service. Check the address; it ends with the version (…/v1).',
  }[found];
  throw new CheckFailed(problem);
};

/** What is wrong and what to do. Host names with a private address are refused when the connection opens. */
function describeFailure(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (at.message.includes('private address'))
      return 'AGENT_BASE_URL leads to a host with a private address: add the host to PRIVATE_HOSTS.';
  }
  if (error instanceof AgentError && error.code === 'unavailable' && error.status === undefined)
    return `Nothing answers at AGENT_BASE_URL${codeIn(error.cause)}: check the address and the network.`;
  return `AGENT_BASE_URL does not work: ${errorMessage(error)}`;
}

function codeIn(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}
