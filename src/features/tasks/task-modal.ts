import type { ChannelActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import type { HomeTabState } from '../../relay/tasks/home-tab-state.ts';
import { taskRefusal } from '../../relay/tasks/task-access.ts';
import { threadPermalink } from '../../relay/tasks/task-list.ts';
import { taskSummary } from '../../relay/tasks/task-summary.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskRow } from '../../store/tasks/task-records.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import { readTaskDetails } from './task-files.ts';
import { type TaskView, taskNoticeView, taskView } from './task-view.ts';

/** A person who looks at a task's details. */
export interface TaskModalRequest extends ChannelActor {
  thread_ts: string;
  /** The page of its files, from 0. */
  page: number;
  /** What the Home tab behind the modal shows. */
  home: HomeTabState;
  /** A sentence about what was just done. */
  note?: string | undefined;
}

/** The modal with a task's details. */
export class TaskModal {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Opens the modal. Throws a SlackError. */
  async open(triggerId: string, request: TaskModalRequest): Promise<ModalOutcome> {
    const location = { workspace: request.workspace, triggerId };
    return openAndFillModal(this.#deps, location, taskNoticeView, strings.modalUnavailable, (workspace) =>
      this.#renderView(workspace, request),
    );
  }

  /** Updates an open modal; false if it was closed. Throws a SlackError. */
  async update(viewId: string, request: TaskModalRequest): Promise<boolean> {
    const workspace = this.#deps.workspace(request.workspace);
    if (workspace === undefined) return false;
    return workspace.views.update(viewId, await this.#renderView(workspace, request));
  }

  /** Shows a sentence in place of the task. Throws a SlackError. */
  async showNotice(viewId: string, workspace: string, sentence: string): Promise<void> {
    await this.#deps.workspace(workspace)?.views.update(viewId, taskNoticeView(sentence));
  }

  async #renderView(workspace: WorkspaceClient, request: TaskModalRequest): Promise<TaskView> {
    const { channel, thread_ts, person, home, note } = request;
    const key = { workspace: request.workspace, channel, thread_ts };
    const row = await this.#deps.store.tasks.get(key);
    if (row === undefined) return taskNoticeView(strings.tasks.notFound);
    const refusal = await taskRefusal(workspace, row, person);
    if (refusal !== undefined) return taskNoticeView(refusal);
    const [{ state, page }, url] = await Promise.all([
      readTaskDetails(this.#deps, row, request.page),
      this.#permalinkOf(workspace, row),
    ]);
    const task = { ...taskSummary(row), url, ...(state !== undefined && !row.has_open_turn && { state }) };
    return taskView({
      task,
      id: row.task_id,
      files: page?.files,
      page: page?.page ?? request.page,
      count: page?.count ?? 0,
      home,
      note,
      now: Date.now(),
    });
  }

  async #permalinkOf(workspace: WorkspaceClient, row: TaskRow): Promise<string | null> {
    if (row.permalink !== null) return row.permalink;
    const found = await threadPermalink(workspace, row);
    if (found !== undefined) await this.#deps.store.tasks.savePermalink(row, found);
    return found ?? null;
  }
}
