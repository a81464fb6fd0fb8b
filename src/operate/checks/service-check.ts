import { AgentClient } from '../../agent/client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { Config } from '../../config.ts';
import { type Check, fine, sayingOf, wrong } from './finding.ts';

const what = 'agent service';
/** No task has this id: to ask for it costs nothing and changes nothing. */
const nothing = '00000000-0000-0000-0000-000000000000';

/** The service's address and key, by a question that changes nothing. */
export const checkService: Check = async (config) => {
  try {
    const answer = await ask(config, config.AGENT_API_KEY);
    if (answer === 'bad_key') {
      return [
        wrong(what, 'AGENT_API_KEY is not accepted: get a valid one from the account page of the service.'),
      ];
    }
    // A server that knows nothing of keys is not the service.
    if ((await ask(config, 'a-key-that-nobody-has')) !== 'bad_key') {
      const says =
        'AGENT_BASE_URL answers the same with a wrong key: check the address, with its version at the end (…/v1).';
      return [wrong(what, says)];
    }
    return [fine(what, `${new URL(config.AGENT_BASE_URL).host} answers and takes the key`)];
  } catch (error) {
    if (error instanceof TypeError) return [wrong(what, error.message)];
    return [wrong(what, `AGENT_BASE_URL does not work: ${sayingOf(error)}${hint(error)}`)];
  }
};

async function ask(config: Config, apiKey: string): Promise<'bad_key' | 'known'> {
  const agent = new AgentClient({
    baseUrl: config.AGENT_BASE_URL,
    apiKey,
    dialect: config.AGENT_DIALECT,
    allowedHosts: config.PRIVATE_HOSTS,
    retry: { attempts: 1 },
    timeouts: { requestMs: 10_000 },
  });
  try {
    await agent.getTask(nothing);
    return 'known';
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error.code === 'bad_key') return 'bad_key';
    if (error.code === 'not_found' || error.code === 'rejected') return 'known';
    throw error;
  } finally {
    await agent.close();
  }
}

/** A name that leads into a private network is refused when the connection is made. */
function hint(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (at.message.includes('private address'))
      return ' It leads to a private address: name its host in PRIVATE_HOSTS.';
  }
  return '';
}
