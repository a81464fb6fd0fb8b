import type { HomeTab } from '../features/home-tab.ts';
import type { TaskDeleter } from '../features/task-details/task-deletion.ts';
import type { TaskFileDelivery } from '../features/task-details/task-file-delivery.ts';
import type { TaskModal, TaskModalRequest } from '../features/task-details/task-modal.ts';
import { parseFilesPage, parseTaskMetadata } from '../features/task-details/task-view.ts';
import * as strings from '../render/strings/index.ts';
import { type ButtonPress, type ListenerContext, onPress } from './press.ts';

interface TaskPress {
  viewId: string;
  request: TaskModalRequest;
  /** The service's id of the task that the modal shows. */
  task: string;
  value: string;
}

/** The buttons that lead to a page of files, and what the modal then says. */
const FILE_PAGES = {
  task_files_back: undefined,
  task_files_more: undefined,
  task_files_look: strings.tasks.filesLookedFor,
};

/** Handles the buttons in a task's details. Each press is acknowledged at once, and the modal shows the outcome. */
export function registerTaskDetailsListeners(
  context: ListenerContext,
  taskModal: TaskModal,
  { taskFiles, taskDeleter, home }: { taskFiles: TaskFileDelivery; taskDeleter: TaskDeleter; home: HomeTab },
): void {
  for (const [id, note] of Object.entries(FILE_PAGES)) {
    onAction(id, async ({ viewId, request, value }) => {
      await taskModal.update(viewId, { ...request, page: parseFilesPage(value) ?? request.page, note });
    });
  }

  onAction('task_file', async ({ viewId, request, value: fileId }) => {
    await taskFiles.deliver({ ...request, fileId }, (note) => taskModal.update(viewId, { ...request, note }));
  });

  onAction('task_delete', async ({ viewId, request, task }) => {
    const { workspace, person, channel, thread_ts, home: state } = request;
    const sentence = await taskDeleter.delete({ workspace, channel, thread_ts, task, person });
    await taskModal.showNotice(viewId, workspace, sentence);
    await home.show({ workspace, person, state });
  });

  function onAction(actionId: string, handle: (press: TaskPress) => Promise<void>): void {
    onPress(context, actionId, async (press) => {
      const taskPress = parseTaskPress(press);
      if (taskPress !== undefined) await handle(taskPress);
    });
  }
}

function parseTaskPress({ actor, view, value }: ButtonPress): TaskPress | undefined {
  const state = view && parseTaskMetadata(view.metadata);
  if (view === undefined || state === undefined) return undefined;
  const { channel, thread_ts, page, home, task } = state;
  return { viewId: view.id, request: { ...actor, channel, thread_ts, page, home }, task, value };
}
