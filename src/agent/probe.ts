import { AgentClient } from './client.ts';
import { AgentError, AgentRejectedError } from './errors.ts';
import type { AgentClientOptions } from './options.ts';
import type { Project } from './schema.ts';

/** No task has this id: to ask for it costs nothing and changes nothing. */
const nothing: Made = { task: '00000000-0000-0000-0000-000000000000' };
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

/** A task or a project, by its id. */
export type Made = { readonly task: string } | { readonly project: string };

/** Whether a key opens a task or a project: then it belongs to the account that made it. Throws like `probe`. */
export async function opens(options: Parameters<typeof probe>[0], made: Made): Promise<boolean> {
  return (await ask(options, options.apiKey, made)) === 'found';
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

async function ask(
  options: Parameters<typeof probe>[0],
  apiKey: string,
  made: Made,
): Promise<'bad_key' | 'unknown' | 'found'> {
  const agent = new AgentClient({
    ...options,
    apiKey,
    retry: { attempts: 1 },
    timeouts: { requestMs: answerMs },
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
