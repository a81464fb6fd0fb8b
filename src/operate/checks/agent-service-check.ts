import { probeAccount } from '../../agent/account-probe.ts';
import { type Check, errorMessage, failed, passed } from './check-result.ts';

const CHECK_NAME = 'agent service';

/** Checks the service's address and key, with a read-only request. */
export const checkAgentService: Check = async (config) => {
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  if (baseUrl === undefined || apiKey === undefined)
    return [passed(CHECK_NAME, 'each workspace sets its own account in the Home tab')];
  const { AGENT_DIALECT: dialect, PRIVATE_HOSTS: allowedHosts } = config;
  try {
    switch (await probeAccount({ baseUrl, apiKey, serviceOptions: dialect, allowedHosts })) {
      case 'good':
        return [passed(CHECK_NAME, `${new URL(baseUrl).host} accepts the key`)];
      case 'bad_key':
        return [
          failed(
            CHECK_NAME,
            'The service rejects AGENT_API_KEY. Get a valid key from the account page of the service.',
          ),
        ];
      case 'no_service':
        return [
          failed(
            CHECK_NAME,
            'AGENT_BASE_URL accepts even a wrong key, so it is not the service. Check the address; it ends with the version (…/v1).',
          ),
        ];
    }
  } catch (error) {
    if (error instanceof TypeError) return [failed(CHECK_NAME, error.message)];
    return [
      failed(CHECK_NAME, `AGENT_BASE_URL does not work: ${errorMessage(error)}${privateAddressHint(error)}`),
    ];
  }
};

/** Host names that resolve to a private address are refused when the connection opens. */
function privateAddressHint(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (at.message.includes('private address'))
      return ' The host has a private address: add it to PRIVATE_HOSTS.';
  }
  return '';
}
