import type { ButtonHandlers, ViewPress, WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { HomeTabState } from '../../relay/tasks/task-list.ts';
import * as strings from '../../render/strings/index.ts';
import { parsePage } from '../modals.ts';
import type { TaskDeleter } from './task-deletion.ts';
import type { TaskFileDelivery } from './task-file-delivery.ts';
import type { TaskModal, TaskModalRequest } from './task-modal.ts';
import { parseTaskMetadata } from './task-view.ts';

type TaskButton = 'task_files_back' | 'task_files_more' | 'task_files_look' | 'task_file' | 'task_delete';

interface TaskParts {
  taskModal: TaskModal;
  taskFiles: TaskFileDelivery;
  taskDeleter: TaskDeleter;
}

/** Handles the buttons in a task's details: the modal shows the outcome; `showHome` shows it in the Home tab behind. */
export function taskButtons(
  { taskModal: modal, taskFiles: files, taskDeleter: deleter }: TaskParts,
  showHome: (request: WorkspaceActor & { state: HomeTabState }) => Promise<void>,
): ButtonHandlers<TaskButton> {
  const showFiles = async (press: ViewPress, note?: string) => {
    const shown = shownTask(press);
    if (shown === undefined) return;
    const page = parsePage(press.value)?.page ?? shown.request.page;
    await modal.update(press.view.id, { ...shown.request, page, note });
  };
  return {
    task_files_back: (press) => showFiles(press),
    task_files_more: (press) => showFiles(press),
    task_files_look: (press) => showFiles(press, strings.tasks.filesLookedFor),
    task_file: async (press) => {
      const { request } = shownTask(press) ?? {};
      if (request === undefined) return;
      const show = (note: string) => modal.update(press.view.id, { ...request, note });
      await files.deliver({ ...request, fileId: press.value }, show);
    },
    task_delete: async (press) => {
      const shown = shownTask(press);
      if (shown === undefined) return;
      const { workspace, person, channel, thread_ts, home: state } = shown.request;
      const sentence = await deleter.delete({ workspace, channel, thread_ts, task: shown.task, person });
      await modal.showNotice(press.view.id, workspace, sentence);
      await showHome({ workspace, person, state });
    },
  };
}

/** What the modal shows that has the button; undefined if that is no task. */
function shownTask({
  workspace,
  person,
  view,
}: ViewPress): { request: TaskModalRequest; task: string } | undefined {
  const state = parseTaskMetadata(view.metadata);
  if (state === undefined) return undefined;
  const { task, channel, thread_ts, page, home } = state;
  return { request: { workspace, person, channel, thread_ts, page, home }, task };
}
