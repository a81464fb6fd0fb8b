import { AgentClient } from './client.ts';
import { AgentError } from './errors.ts';
import type { AgentClientOptions } from './options.ts';

/** No task has this id: to ask for it costs nothing and changes nothing. */
const nothing = '00000000-0000-0000-0000-000000000000';
const wrongKey = 'a-key-that-nobody-has';
/** The longest that a question may take (ms). */
const answerMs = 10_000;

/** What an address and a key are worth. `no_service`: the address takes any key, so it is not the service's. */
export type Probed = 'good' | 'bad_key' | 'no_service';

/**
 * Tries an address and a key by a question that changes nothing. Throws TypeError where one of them cannot be used,
 * and AgentError where nothing sensible answers.
 */
export async function probe(
  options: Pick<AgentClientOptions, 'baseUrl' | 'apiKey' | 'dialect' | 'allowedHosts' | 'bounds' | 'lookup'>,
): Promise<Probed> {
  if ((await ask(options, options.apiKey, nothing)) === 'bad_key') return 'bad_key';
  // A server that knows nothing of keys is not the service.
  return (await ask(options, wrongKey, nothing)) === 'bad_key' ? 'good' : 'no_service';
}

/** Whether a key opens a task: then it belongs to the account that made it. Throws like `probe`. */
export async function opens(options: Parameters<typeof probe>[0], taskId: string): Promise<boolean> {
  return (await ask(options, options.apiKey, taskId)) === 'found';
}

async function ask(
  options: Parameters<typeof probe>[0],
  apiKey: string,
  taskId: string,
): Promise<'bad_key' | 'unknown' | 'found'> {
  const agent = new AgentClient({
    ...options,
    apiKey,
    retry: { attempts: 1 },
    timeouts: { requestMs: answerMs },
  });
  try {
    await agent.getTask(taskId);
    return 'found';
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error.code === 'bad_key') return 'bad_key';
    if (error.code === 'not_found' || error.code === 'rejected') return 'unknown';
    throw error;
  } finally {
    await agent.close();
  }
}
