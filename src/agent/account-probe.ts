import { AgentClient } from './agent-client.ts';
import type { AgentClientOptions } from './client-options.ts';
import { AgentError } from './errors.ts';
import { NO_TASK_ID, WRONG_KEY } from './service-presence.ts';

const NO_TASK: OwnedResource = { task: NO_TASK_ID };
const PROBE_TIMEOUT_MS = 10_000;

/** The result of a probe. `no_service`: the address accepts any key, so it is not the service. */
export type ProbeResult = 'good' | 'bad_key' | 'no_service';

export type ProbeOptions = Pick<
  AgentClientOptions,
  'baseUrl' | 'apiKey' | 'serviceOptions' | 'allowedHosts' | 'responseLimits' | 'responseMemory' | 'lookup'
>;

/** Tries an address and a key by a call that changes nothing. Throws TypeError if one is invalid, and AgentError. */
export async function probeAccount(options: ProbeOptions): Promise<ProbeResult> {
  if ((await tryKey(options, options.apiKey, NO_TASK)) === 'bad_key') return 'bad_key';
  return (await tryKey(options, WRONG_KEY, NO_TASK)) === 'bad_key' ? 'good' : 'no_service';
}

/** A task or a project, by its id. */
export type OwnedResource = { readonly task: string } | { readonly project: string };

/** Whether a key opens a task or a project, so that it belongs to the same account. Throws like `probeAccount`. */
export async function keyOpens(options: ProbeOptions, resource: OwnedResource): Promise<boolean> {
  return (await tryKey(options, options.apiKey, resource)) === 'found';
}

async function tryKey(
  options: ProbeOptions,
  apiKey: string,
  resource: OwnedResource,
): Promise<'bad_key' | 'unknown' | 'found'> {
  const agent = new AgentClient({
    ...options,
    apiKey,
    retry: { maxAttempts: 1 },
    timeouts: { requestMs: PROBE_TIMEOUT_MS },
  });
  try {
    await ('task' in resource ? agent.getTask(resource.task) : agent.readProject(resource.project));
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
