import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { TaskList } from '../../relay/tasks/task-list.ts';
import { taskSummary } from '../../relay/tasks/task-summary.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { channelTasksMessage, MAX_LISTED_TASKS } from './channel-tasks-message.ts';

/** What `/agent tasks` answers: the newest tasks of a channel. The asker must be in the channel. */
export class ChannelTasks {
  readonly #deps: Pick<RelayDeps, 'store'>;
  readonly #taskList: Pick<TaskList, 'refresh'>;

  constructor(deps: Pick<RelayDeps, 'store'>, taskList: Pick<TaskList, 'refresh'>) {
    this.#deps = deps;
    this.#taskList = taskList;
  }

  /** Lists the tasks after refreshing their states. Throws a StoreError. */
  async list(workspace: string, channel: string): Promise<RenderedMessage> {
    const newest = () =>
      this.#deps.store.tasks.ofChannel(workspace, channel, { from: 0, most: MAX_LISTED_TASKS });
    await this.#taskList.refresh((await newest()).rows);
    const { rows, total } = await newest();
    return channelTasksMessage(rows.map(taskSummary), total, Date.now());
  }
}
