import type { HomePlace } from '../../reply/views/home-view.ts';
import { type TaskView, taskNotice, taskView } from '../../reply/views/task-view.ts';
import * as words from '../../reply/words.ts';
import type { TaskRow } from '../../store/tasks.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { type Opened, openAndFill } from '../windows.ts';
import { taskRefusal } from './access.ts';
import { shownTask } from './shown-task.ts';
import { readTask } from './task-files.ts';
import { addressOf } from './task-list.ts';

/** A person who looks at a task's details, and where they are to be shown. */
export interface TaskRequest {
  workspace: string;
  person: string;
  channel: string;
  root: string;
  /** The page of its files, from 0. */
  page: number;
  /** What the Home tab showed from which it was opened. */
  home: HomePlace;
  /** A sentence about what was just done. */
  note?: string | undefined;
}

/** The modal with a task's details. */
export class TaskModal {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Opens the modal. Throws a SlackError. */
  async open(triggerId: string, request: TaskRequest): Promise<Opened> {
    const at = { workspace: request.workspace, triggerId };
    const said = { notice: taskNotice, failed: words.windowAway };
    return openAndFill(this.#parts, at, said, (workspace) => this.#view(workspace, request));
  }

  /** Shows the task in a modal that is open; false where it was closed. Throws a SlackError. */
  async fill(viewId: string, request: TaskRequest): Promise<boolean> {
    const workspace = this.#parts.workspace(request.workspace);
    if (workspace === undefined) return false;
    return workspace.views.update(viewId, await this.#view(workspace, request));
  }

  /** Shows a sentence in place of the task. Throws a SlackError. */
  async say(viewId: string, workspace: string, sentence: string): Promise<void> {
    await this.#parts.workspace(workspace)?.views.update(viewId, taskNotice(sentence));
  }

  async #view(workspace: Workspace, request: TaskRequest): Promise<TaskView> {
    const { channel, root, person, home, note } = request;
    const key = { workspace: request.workspace, channel, root };
    const row = await this.#parts.store.tasks.get(key);
    if (row === undefined) return taskNotice(words.tasks.unknown);
    const refusal = await taskRefusal(workspace, row, person);
    if (refusal !== undefined) return taskNotice(refusal);
    const [{ state, page }, url] = await Promise.all([
      readTask(this.#parts, row, request.page),
      this.#address(workspace, row),
    ]);
    const task = { ...shownTask(row), url, ...(state !== undefined && !row.open && { state }) };
    return taskView({
      task,
      id: row.task,
      files: page?.files,
      page: page?.page ?? request.page,
      count: page?.count ?? 0,
      home,
      note,
      now: Date.now(),
    });
  }

  async #address(workspace: Workspace, row: TaskRow): Promise<string | null> {
    if (row.permalink !== null) return row.permalink;
    const found = await addressOf(workspace, row);
    if (found !== undefined) await this.#parts.store.tasks.keepPermalink(row, found);
    return found ?? null;
  }
}
