import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';
import { FILES_PER_PAGE, type TaskFile } from './task-view.ts';

/** Longest wait for the service (ms). */
const SERVICE_TIMEOUT_MS = 15_000;

/** A page of a task's files. */
export interface TaskFileList {
  files: TaskFile[];
  page: number;
  /** The number on all pages. */
  count: number;
}

/** A task's state at the service and a page of its files; undefined if the service does not say. */
export async function readTaskDetails(
  deps: RelayDeps,
  row: TaskRow,
  page: number,
): Promise<{ state: string | undefined; page: TaskFileList | undefined }> {
  const signal = AbortSignal.timeout(SERVICE_TIMEOUT_MS);
  // Throws AgentNotFoundError for an account whose key is gone: its tasks count as gone too.
  const agent = () => deps.agent(row.account_id);
  let state: string | undefined;
  try {
    state = (await undefinedIfGone(() => agent().getTask(row.task_id, { signal })))?.status ?? 'gone';
    await deps.store.tasks.recordState(row, state);
    return { state, page: await readFiles(deps, agent, row, page, state === 'gone', signal) };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    deps.log.info({ err: error, task: row.task_id }, 'could not read a task at the service');
    return { state, page: undefined };
  }
}

/** First the files sent with the messages, then those that the agent made. */
async function readFiles(
  deps: RelayDeps,
  agent: () => AgentClient,
  row: TaskRow,
  page: number,
  isGone: boolean,
  signal: AbortSignal,
): Promise<TaskFileList> {
  const inputs = await deps.store.tasks.attachedFileIds(row);
  const outputs = isGone
    ? []
    : ((await undefinedIfGone(() => agent().allResults(row.task_id, { reconcile: false, signal }))) ?? []);
  const count = inputs.length + outputs.length;
  const shown = Math.min(page, Math.max(0, Math.ceil(count / FILES_PER_PAGE) - 1));
  const [from, to] = [shown * FILES_PER_PAGE, (shown + 1) * FILES_PER_PAGE];
  const files = await Promise.all(
    inputs.slice(from, to).map(async (id): Promise<TaskFile> => {
      const file = await undefinedIfGone(() => agent().getFile(id, { signal }));
      if (file === undefined) return { kind: 'gone' };
      return { kind: 'input', id, name: file.filename, sizeBytes: file.sizeBytes };
    }),
  );
  const made = outputs.slice(Math.max(0, from - inputs.length), Math.max(0, to - inputs.length));
  for (const { name, sizeBytes, downloadUrl } of made) {
    files.push({ kind: 'output', name, sizeBytes, url: downloadUrl });
  }
  return { files, page: shown, count };
}

async function undefinedIfGone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  }
}
