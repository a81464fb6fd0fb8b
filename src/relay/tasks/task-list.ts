import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import { listedMost, taskListMessage } from '../../reply/views/task-lines.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskPage, TaskRange, TaskRow } from '../../store/tasks.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { shownTask } from './shown-task.ts';

/** What was read so lately (ms) is not read again. */
const freshMs = 15_000;
/** How long people wait for the service at most (ms). */
const patienceMs = 10_000;
/** List tasks gives so many at most; what is not among them is read by itself. */
const pageSize = 100;

/** Lists of tasks: from our own records, and freshened by the service. */
export class TaskList {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** The tasks that a person began, newest first. */
  async ofPerson(workspace: string, person: string, range: TaskRange): Promise<TaskPage> {
    return this.#parts.store.tasks.ofPerson(workspace, person, range);
  }

  /** The tasks of a channel, newest first, whoever may see them. */
  async ofChannel(workspace: string, channel: string, range: TaskRange): Promise<TaskPage> {
    return this.#parts.store.tasks.ofChannel(workspace, channel, range);
  }

  /** The message for somebody who is in the channel and asks for its tasks: the newest, each with a link to its thread. */
  async listChannel(place: { workspace: string; channel: string }): Promise<RenderedMessage> {
    const range = { from: 0, most: listedMost };
    const first = await this.ofChannel(place.workspace, place.channel, range);
    await this.freshen(first.rows);
    const { rows, count } = await this.ofChannel(place.workspace, place.channel, range);
    return taskListMessage(rows.map(shownTask), count, Date.now());
  }

  /** Whether everything that is shown of these tasks was read lately. */
  isFresh(rows: readonly TaskRow[]): boolean {
    return !rows.some((row) => row.permalink === null || isOld(row));
  }

  /**
   * Brings the records of these tasks up to date: their states, and the addresses of their threads. The answer is
   * whether the service told all that was asked; throws only where the store is away.
   */
  async freshen(rows: readonly TaskRow[]): Promise<boolean> {
    const [reached] = await Promise.all([this.#states(rows.filter(isOld)), this.#addresses(rows)]);
    return reached;
  }

  async #states(rows: readonly TaskRow[]): Promise<boolean> {
    const signal = AbortSignal.timeout(patienceMs);
    const projects = Map.groupBy(rows, ({ account, project }) => `${account}/${project ?? ''}`);
    const done = await Promise.all([...projects.values()].map((group) => this.#project(group, signal)));
    return done.every(Boolean);
  }

  /** One project's tasks: by one page of its list where they are several, the others each by itself. */
  async #project(rows: readonly TaskRow[], signal: AbortSignal): Promise<boolean> {
    try {
      const listed = await this.#listed(rows, signal);
      for (const row of rows) {
        const state = listed.get(row.task) ?? (await this.#read(row, signal));
        await this.#parts.store.tasks.found(row, state);
      }
      return true;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#parts.log.info({ err: error }, 'tasks could not be read at the service');
      return false;
    }
  }

  async #listed(rows: readonly TaskRow[], signal: AbortSignal): Promise<Map<string, string>> {
    const [first] = rows;
    if (first === undefined || first.project === null) return new Map();
    try {
      const agent = this.#parts.agent(first.account);
      const { items } = await agent.listTasks(first.project, { limit: pageSize, signal });
      return new Map(items.map(({ id, status }) => [id, status]));
    } catch (error) {
      if (error instanceof AgentNotFoundError) return new Map();
      throw error;
    }
  }

  async #read({ account, task }: TaskRow, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#parts.agent(account).getTask(task, { signal })).status;
    } catch (error) {
      if (error instanceof AgentNotFoundError) return 'gone';
      throw error;
    }
  }

  async #addresses(rows: readonly TaskRow[]): Promise<void> {
    await Promise.all(
      rows
        .filter(({ permalink }) => permalink === null)
        .map(async (row) => {
          const workspace = this.#parts.workspace(row.workspace);
          const permalink = workspace && (await addressOf(workspace, row));
          if (permalink !== undefined) await this.#parts.store.tasks.keepPermalink(row, permalink);
        }),
    );
  }
}

/** The address of a thread for people; undefined where Slack does not tell it. */
export async function addressOf(
  { posting }: Pick<Workspace, 'posting'>,
  { channel, root }: Pick<TaskRow, 'channel' | 'root'>,
): Promise<string | undefined> {
  try {
    return await posting.permalink({ channel, ts: root });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return undefined;
  }
}

function isOld({ open, readAt, finishedAt }: TaskRow): boolean {
  if (open) return false;
  return (
    readAt === null || Date.now() - readAt.getTime() > freshMs || (finishedAt !== null && readAt < finishedAt)
  );
}
