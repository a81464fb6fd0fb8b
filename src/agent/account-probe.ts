import { AgentClient } from './agent-client.ts';
import type { AgentClientOptions } from './client-options.ts';
import { AgentError, AgentRejectedError } from './errors.ts';
import type { Project } from './service-schema.ts';

/** No task has this id: to ask for it costs nothing and changes nothing. */
const NO_TASK: OwnedResource = { task: '00000000-0000-0000-0000-000000000000' };
const WRONG_KEY = 'a-key-that-nobody-has';
/** The longest that a question may take (ms). */
const PROBE_TIMEOUT_MS = 10_000;

/** What an address and a key are worth. `no_service`: the address takes any key, so it is not the service's. */
export type ProbeResult = 'good' | 'bad_key' | 'no_service';

/**
 * Tries an address and a key by a question that changes nothing. Throws TypeError where one of them cannot be used,
 * and AgentError where nothing sensible answers.
 */
export async function probeAccount(
  options: Pick<
    AgentClientOptions,
    'baseUrl' | 'apiKey' | 'serviceOptions' | 'allowedHosts' | 'responseLimits' | 'lookup'
  >,
): Promise<ProbeResult> {
  if ((await tryKey(options, options.apiKey, NO_TASK)) === 'bad_key') return 'bad_key';
  // A server that knows nothing of keys is not the service.
  return (await tryKey(options, WRONG_KEY, NO_TASK)) === 'bad_key' ? 'good' : 'no_service';
}

/** A task or a project, by its id. */
export type OwnedResource = { readonly task: string } | { readonly project: string };

/** Whether a key opens a task or a project: then it belongs to the account that made it. Throws like `probe`. */
export async function keyOpens(
  options: Parameters<typeof probeAccount>[0],
  made: OwnedResource,
): Promise<boolean> {
  return (await tryKey(options, options.apiKey, made)) === 'found';
}

/**
 * The service has no call that reads a project: a change of nothing answers it. Where the service wants something to
 * change, the project's tasks tell whether there is one. Throws an AgentError; AgentNotFoundError where there is none.
 */
export async function readProject(
  agent: AgentClient,
  id: string,
  signal?: AbortSignal,
): Promise<Project | undefined> {
  try {
    return await agent.updateProject(id, {}, { signal });
  } catch (error) {
    if (!(error instanceof AgentRejectedError)) throw error;
    await agent.listTasks(id, { limit: 1, signal });
    return undefined;
  }
}

async function tryKey(
  options: Parameters<typeof probeAccount>[0],
  apiKey: string,
  made: OwnedResource,
): Promise<'bad_key' | 'unknown' | 'found'> {
  const agent = new AgentClient({
    ...options,
    apiKey,
    retry: { attempts: 1 },
    timeouts: { requestMs: PROBE_TIMEOUT_MS },
  });
  try {
    await ('task' in made ? agent.getTask(made.task) : readProject(agent, made.project));
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
