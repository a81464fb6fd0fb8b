import { probeAccount } from '../../agent/account-probe.ts';
import { type Check, errorMessage, failed, passed } from './check-result.ts';

const CHECK_NAME = 'agent service';

/** The service's address and key, by a question that changes nothing. */
export const checkAgentService: Check = async (config) => {
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  if (baseUrl === undefined || apiKey === undefined)
    return [passed(CHECK_NAME, 'each workspace sets its own account, in the Home tab of the app')];
  const { AGENT_DIALECT: dialect, PRIVATE_HOSTS: allowedHosts } = config;
  try {
    switch (await probeAccount({ baseUrl, apiKey, serviceOptions: dialect, allowedHosts })) {
      case 'good':
        return [passed(CHECK_NAME, `${new URL(baseUrl).host} answers and takes the key`)];
      case 'bad_key':
        return [
          failed(
            CHECK_NAME,
            'AGENT_API_KEY is not accepted: get a valid one from the account page of the service.',
          ),
        ];
      case 'no_service':
        return [
          failed(
            CHECK_NAME,
            'AGENT_BASE_URL answers the same with a wrong key: check the address, with its version at the end (…/v1).',
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

/** A name that leads into a private network is refused when the connection is made. */
function privateAddressHint(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (at.message.includes('private address'))
      return ' It leads to a private address: name its host in PRIVATE_HOSTS.';
  }
  return '';
}
