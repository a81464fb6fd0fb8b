import type { ChannelActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { threadPermalink } from '../../relay/tasks/task-list.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { MAX_RUNNING_ROWS, runningTasksMessage } from './running-tasks-message.ts';

/** What `/agent status` and `/agent stop` answer: the asker's running tasks in a channel, for them alone to see. */
export class RunningTasks {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Lists the tasks, each with a button that stops it. Throws a StoreError. */
  async list({ workspace, channel, person }: ChannelActor): Promise<RenderedMessage> {
    const { runningTurns } = this.#deps.store;
    const [own, all] = await Promise.all([
      runningTurns.ofUser({ workspace, channel, person }, MAX_RUNNING_ROWS + 1),
      runningTurns.countInChannel(workspace, channel),
    ]);
    const slack = this.#deps.workspace(workspace);
    const rows = await Promise.all(
      own.map(async ({ turn_id, thread_ts, task_title, is_stopping: isStopping, started_at }) => ({
        turnId: turn_id,
        title: task_title,
        isStopping,
        runningMs: Date.now() - started_at.getTime(),
        url: slack && (await threadPermalink(slack, { channel, thread_ts })),
      })),
    );
    return runningTasksMessage(rows, own.length > MAX_RUNNING_ROWS ? 0 : all - own.length);
  }
}
