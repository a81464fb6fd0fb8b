import type { AgentClient } from '../../agent/client.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { type TaskFile, taskFilesPage } from '../../reply/views/task-view.ts';
import type { TaskRow } from '../../store/tasks.ts';
import type { RelayParts } from '../context.ts';

/** How long people wait for the service at most (ms). */
const patienceMs = 15_000;

/** A page of a task's files. */
export interface TaskFilesPage {
  files: TaskFile[];
  page: number;
  /** How many there are on all pages. */
  count: number;
}

/** How a task stands at the service, and a page of its files; undefined where the service does not say. */
export async function readTask(
  parts: RelayParts,
  row: TaskRow,
  page: number,
): Promise<{ state: string | undefined; page: TaskFilesPage | undefined }> {
  const signal = AbortSignal.timeout(patienceMs);
  // An account that was replaced for good is as gone as its tasks.
  const agent = () => parts.agent(row.account);
  let state: string | undefined;
  try {
    state = (await orGone(() => agent().getTask(row.task, { signal })))?.status ?? 'gone';
    await parts.store.tasks.found(row, state);
    return { state, page: await filesOf(parts, agent, row, { page, gone: state === 'gone', signal }) };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    parts.log.info({ err: error, task: row.task }, 'a task could not be read at the service');
    return { state, page: undefined };
  }
}

/** First what went along with the messages, then what the agent made. */
async function filesOf(
  parts: RelayParts,
  agent: () => AgentClient,
  row: TaskRow,
  { page, gone, signal }: { page: number; gone: boolean; signal: AbortSignal },
): Promise<TaskFilesPage> {
  const inputs = await parts.store.tasks.attached(row);
  const outputs = gone
    ? []
    : ((await orGone(() => agent().allResults(row.task, { reconcile: false, signal }))) ?? []);
  const count = inputs.length + outputs.length;
  const shown = Math.min(page, Math.max(0, Math.ceil(count / taskFilesPage) - 1));
  const [from, to] = [shown * taskFilesPage, (shown + 1) * taskFilesPage];
  const files = await Promise.all(
    inputs.slice(from, to).map(async (id): Promise<TaskFile> => {
      const file = await orGone(() => agent().getFile(id, { signal }));
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

async function orGone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AgentNotFoundError) return undefined;
    throw error;
  }
}
