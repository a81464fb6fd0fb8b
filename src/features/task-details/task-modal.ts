import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, undefinedIfNotFound } from '../../agent/errors.ts';
import { closingAt } from '../../relay/access/access-policy.ts';
import { taskUseRefusal } from '../../relay/access/control-permission.ts';
import { readIfAllowed } from '../../relay/access/rights.ts';
import { toListedResult } from '../../relay/replies/result-posts.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  PressedId,
  ViewPress,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { type HomeTabState, savedPermalink, taskSummary } from '../../relay/tasks/task-summaries.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import { type ModalContent, type ModalOutcome, openAndFillModal, parsePage, updateModal } from '../modals.ts';
import type { ArchiveDelivery } from './archive-delivery.ts';
import type { taskDeletion } from './task-deletion.ts';
import type { taskFileDelivery } from './task-file-delivery.ts';
import { FILES_PER_PAGE, parseTaskMetadata, type TaskDetails, type TaskFile, taskView } from './task-view.ts';

export interface TaskModalRequest extends ChannelActor {
  thread_ts: string;
  /** The page of its files, from 0. */
  page: number;
  /** What the Home tab behind the modal shows. */
  home: HomeTabState;
  note?: string | undefined;
}

/** Opens the modal with a task's details. Throws a SlackError. */
export async function openTaskModal(
  deps: RelayDeps,
  triggerId: string,
  request: TaskModalRequest,
): Promise<ModalOutcome> {
  const trigger = { workspace: request.workspace, triggerId };
  return openAndFillModal(deps, trigger, strings.tasks.title, () => modalContent(deps, request));
}

async function modalContent(deps: RelayDeps, request: TaskModalRequest): Promise<ModalContent> {
  const { channel, thread_ts, person } = request;
  const row = await deps.store.tasks.get({ workspace: request.workspace, channel, thread_ts });
  if (row === undefined) return strings.tasks.notFound;
  const use = { person, control: 'task_details' };
  const refusal = async () => (await taskUseRefusal(deps, row, use))?.sentence;
  return readIfAllowed(refusal, () => readContent(deps, request, row));
}

async function readContent(deps: RelayDeps, request: TaskModalRequest, row: TaskRow): Promise<ModalContent> {
  const { home, note } = request;
  const closing = await closingAt(deps, row);
  const [{ state, ...details }, permalink] = await Promise.all([
    closing === undefined ? readTaskDetails(deps, row, request.page) : unread(request.page),
    savedPermalink(deps, row),
  ]);
  const task = {
    ...taskSummary(row),
    permalink,
    ...(state !== undefined && !row.has_open_turn && { state }),
  };
  const now = Date.now();
  const watchedMs = deps.settings.watchMs;
  const offersLook =
    closing === undefined && row.finished_at !== null && now - row.finished_at.getTime() > watchedMs;
  const closed = closing && strings.closedPlaces[closing];
  return taskView({ closed, task, id: row.task_id, ...details, home, note, now, offersLook });
}

const SERVICE_TIMEOUT_MS = 15_000;

type TaskFileList = Pick<TaskDetails, 'files' | 'page' | 'count' | 'isComplete'>;

/** A task's state and reviews at the service, and a page of its files; undefined if the service does not say. */
type ReadDetails = TaskFileList & Pick<TaskDetails, 'reviews'> & { state: string | undefined };

function unread(page: number): ReadDetails {
  return { state: undefined, reviews: [], files: undefined, page, count: 0, isComplete: true };
}

async function readTaskDetails(deps: RelayDeps, row: TaskRow, page: number): Promise<ReadDetails> {
  const signal = AbortSignal.timeout(SERVICE_TIMEOUT_MS);
  // Throws AgentNotFoundError for an account whose key is gone: its tasks count as gone too.
  const agent = () => deps.agent(row.account_id);
  let read = unread(page);
  try {
    const task = await undefinedIfNotFound(() => agent().getTask(row.task_id, { signal }));
    const state = task?.status ?? 'gone';
    read = { ...read, state, reviews: task?.reviews ?? [] };
    await deps.store.tasks.recordState(row, state);
    return { ...read, ...(await readFiles(deps, agent, row, page, state === 'gone', signal)) };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    deps.log.info({ err: error, task: row.task_id }, 'could not read a task at the service');
    return read;
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
  // The first page is opened, or asked for, to see what is new.
  const list = () => agent().allResults(row.task_id, { reconcile: page === 0, signal });
  const listed = isGone ? undefined : await undefinedIfNotFound(list);
  const { results: outputs, isComplete } = listed ?? { results: [], isComplete: true };
  const count = inputs.length + outputs.length;
  const shown = Math.min(page, Math.max(0, Math.ceil(count / FILES_PER_PAGE) - 1));
  const [from, to] = [shown * FILES_PER_PAGE, (shown + 1) * FILES_PER_PAGE];
  const files = await Promise.all(
    inputs.slice(from, to).map(async (id): Promise<TaskFile> => {
      const file = await undefinedIfNotFound(() => agent().getFile(id, { signal }));
      if (file === undefined) return { kind: 'gone' };
      return { kind: 'input', id, name: file.filename, sizeBytes: file.sizeBytes };
    }),
  );
  const made = outputs.slice(Math.max(0, from - inputs.length), Math.max(0, to - inputs.length));
  const claimed = await deps.store.results.ofThread(row);
  for (const result of made) {
    const turn = { workspace: row.workspace, id: claimed.get(result.id)?.turn_id };
    files.push({ kind: 'output', ...toListedResult(deps, result, turn) });
  }
  return { files, page: shown, count, isComplete };
}

type TaskButton = Exclude<Extract<PressedId, `task_${string}`>, 'task_details'>;

/** Handles the buttons in a task's details: the modal shows the outcome; `showHome` shows it in the Home tab behind. */
export function taskButtons(
  deps: RelayDeps,
  files: ReturnType<typeof taskFileDelivery>,
  deletion: ReturnType<typeof taskDeletion>,
  records: ArchiveDelivery,
  showHome: (request: WorkspaceActor & { state: HomeTabState }) => Promise<void>,
): ButtonHandlers<TaskButton> {
  const { title } = strings.tasks;
  const update = async ({ workspace: id, view }: ViewPress, request: TaskModalRequest) => {
    return updateModal(deps.workspace(id), view.id, title, await modalContent(deps, request));
  };
  type ShownTask = WorkspaceActor & ReturnType<typeof parseTaskMetadata>;
  type Show = (note: string) => Promise<boolean>;
  const onTask = (act: (task: ShownTask, show: Show, press: ViewPress) => Promise<unknown>) => {
    return async (press: ViewPress) => {
      const { workspace, person, view } = press;
      const task = { workspace, person, ...parseTaskMetadata(view.metadata) };
      await act(task, (note) => update(press, { ...task, note }), press);
    };
  };
  const showFiles = (note?: string) =>
    onTask((task, _, press) => {
      return update(press, { ...task, page: parsePage(press.value)?.page ?? task.page, note });
    });
  return {
    task_files_back: showFiles(),
    task_files_more: showFiles(),
    task_files_look: showFiles(strings.tasks.filesLookedFor),
    task_file: onTask((task, show, press) => files.deliver({ ...task, fileId: press.value }, show)),
    task_record: onTask(async (task, show) => show(await records.request(task, show))),
    task_delete: onTask(async ({ workspace, person, channel, thread_ts, task, home: state }, _, press) => {
      const sentence = await deletion.deleteTask({ workspace, channel, thread_ts, task, person });
      await updateModal(deps.workspace(workspace), press.view.id, title, sentence);
      await showHome({ workspace, person, state });
    }),
  };
}
