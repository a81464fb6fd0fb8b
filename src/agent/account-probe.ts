import { valueIf } from '../calls/retries-and-waits.ts';
import { AgentClient } from './agent-client.ts';
import type { AgentClientOptions } from './client-options.ts';
import { AgentError } from './errors.ts';
import { NO_TASK_ID, WRONG_KEY } from './forbidden-or-bad-key.ts';

const NO_TASK: OwnedResource = { task: NO_TASK_ID };
const PROBE_TIMEOUT_MS = 10_000;

/** The result of a probe. `no_service`: the address accepts any key, so it is not the service. */
export type ProbeResult = 'good' | 'bad_key' | 'no_service';

export type ProbeOptions = Pick<
  AgentClientOptions,
  'baseUrl' | 'apiKey' | 'serviceOptions' | 'allowedHosts' | 'responseLimits' | 'responseMemory' | 'lookup'
> & {
  signal?: AbortSignal | undefined;
};

/**
 * Tries an address and a key by a call that changes nothing; `own` gets what is learnt of this key. Throws TypeError if
 * one is invalid, and AgentError.
 */
export async function probeAccount(
  options: ProbeOptions,
  own: Pick<AgentClientOptions, 'gate' | 'onAttempt'> = {},
): Promise<ProbeResult> {
  if ((await tryKey({ ...options, ...own }, NO_TASK)) === 'bad_key') return 'bad_key';
  const wrongKey = { ...options, apiKey: WRONG_KEY };
  return (await tryKey(wrongKey, NO_TASK)) === 'bad_key' ? 'good' : 'no_service';
}

/** A task or a project, by its id. */
export type OwnedResource = { readonly task: string } | { readonly project: string };

/** Whether a key opens one of an account's tasks and projects, so that it belongs to that account; true if there are none. */
export async function opensOneOf(
  options: ProbeOptions,
  resources: readonly OwnedResource[],
): Promise<boolean> {
  for (const one of resources) {
    const result = await tryKey(options, one).catch(valueIf('unknown', (e) => e instanceof AgentError));
    if (result === 'found') return true;
  }
  return resources.length === 0;
}

async function tryKey({ signal, ...options }: ProbeOptions, resource: OwnedResource) {
  const agent = new AgentClient({
    ...options,
    retry: { maxAttempts: 1 },
    timeouts: { requestMs: PROBE_TIMEOUT_MS },
  });
  try {
    await ('task' in resource
      ? agent.getTask(resource.task, { signal })
      : agent.requireProject(resource.project, signal));
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
