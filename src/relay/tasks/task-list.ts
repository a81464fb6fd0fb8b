import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { MAX_LISTED_TASKS, taskListMessage } from '../../render/blocks/task-lines.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskPage, TaskRange, TaskRow } from '../../store/tasks/task-records.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { taskSummary } from './task-summary.ts';

/** A state read this recently (ms) is not read again. */
const FRESH_MS = 15_000;
/** The longest that people wait for the service (ms). */
const SERVICE_TIMEOUT_MS = 10_000;
/** The most tasks on a page of the service's list. The others are read one by one. */
const SERVICE_PAGE_SIZE = 100;

/** The tasks in lists: our own records, refreshed from the service. */
export class TaskList {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** The tasks that a person began, newest first. */
  async ofPerson(workspace: string, person: string, range: TaskRange): Promise<TaskPage> {
    return this.#deps.store.tasks.ofPerson(workspace, person, range);
  }

  /** The tasks of a channel, newest first, whoever may see them. */
  async ofChannel(workspace: string, channel: string, range: TaskRange): Promise<TaskPage> {
    return this.#deps.store.tasks.ofChannel(workspace, channel, range);
  }

  /** The message for somebody who is in the channel and asks for its tasks: the newest, each with a link to its thread. */
  async channelListMessage(location: { workspace: string; channel: string }): Promise<RenderedMessage> {
    const range = { from: 0, most: MAX_LISTED_TASKS };
    const first = await this.ofChannel(location.workspace, location.channel, range);
    await this.refresh(first.rows);
    const { rows, total: count } = await this.ofChannel(location.workspace, location.channel, range);
    return taskListMessage(rows.map(taskSummary), count, Date.now());
  }

  /** Whether everything that lists show of these tasks is recent. */
  isFresh(rows: readonly TaskRow[]): boolean {
    return !rows.some((row) => row.permalink === null || isStale(row));
  }

  /**
   * Refreshes the records of these tasks: their states and the permalinks of their threads. Returns whether the service
   * answered for all of them. Throws StoreError.
   */
  async refresh(rows: readonly TaskRow[]): Promise<boolean> {
    const [isComplete] = await Promise.all([
      this.#refreshStates(rows.filter(isStale)),
      this.#refreshPermalinks(rows),
    ]);
    return isComplete;
  }

  async #refreshStates(rows: readonly TaskRow[]): Promise<boolean> {
    const signal = AbortSignal.timeout(SERVICE_TIMEOUT_MS);
    const projects = Map.groupBy(rows, ({ account, project }) => `${account}/${project ?? ''}`);
    const done = await Promise.all(
      [...projects.values()].map((group) => this.#refreshProject(group, signal)),
    );
    return done.every(Boolean);
  }

  /** Refreshes one project's tasks: from a page of its list, and one by one where they are not on it. */
  async #refreshProject(rows: readonly TaskRow[], signal: AbortSignal): Promise<boolean> {
    try {
      const listed = await this.#listStates(rows, signal);
      for (const row of rows) {
        const state = listed.get(row.task) ?? (await this.#readState(row, signal));
        await this.#deps.store.tasks.recordState(row, state);
      }
      return true;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.info({ err: error }, 'reading tasks from the service failed');
      return false;
    }
  }

  async #listStates(rows: readonly TaskRow[], signal: AbortSignal): Promise<Map<string, string>> {
    const [first] = rows;
    if (first === undefined || first.project === null) return new Map();
    try {
      const agent = this.#deps.agent(first.account);
      const { items } = await agent.listTasks(first.project, { limit: SERVICE_PAGE_SIZE, signal });
      return new Map(items.map(({ id, status }) => [id, status]));
    } catch (error) {
      if (error instanceof AgentNotFoundError) return new Map();
      throw error;
    }
  }

  async #readState({ account, task }: TaskRow, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#deps.agent(account).getTask(task, { signal })).status;
    } catch (error) {
      if (error instanceof AgentNotFoundError) return 'gone';
      throw error;
    }
  }

  async #refreshPermalinks(rows: readonly TaskRow[]): Promise<void> {
    await Promise.all(
      rows
        .filter(({ permalink }) => permalink === null)
        .map(async (row) => {
          const workspace = this.#deps.workspace(row.workspace);
          const permalink = workspace && (await threadPermalink(workspace, row));
          if (permalink !== undefined) await this.#deps.store.tasks.savePermalink(row, permalink);
        }),
    );
  }
}

/** The permalink of a thread; undefined where Slack does not give it. */
export async function threadPermalink(
  { posting }: Pick<WorkspaceClient, 'posting'>,
  { channel, root }: Pick<TaskRow, 'channel' | 'root'>,
): Promise<string | undefined> {
  try {
    return await posting.getPermalink({ channel, ts: root });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return undefined;
  }
}

function isStale({ open, readAt, finishedAt }: TaskRow): boolean {
  if (open) return false;
  return (
    readAt === null ||
    Date.now() - readAt.getTime() > FRESH_MS ||
    (finishedAt !== null && readAt < finishedAt)
  );
}
