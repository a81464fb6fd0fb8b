import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { threadPermalink } from '../../relay/tasks/task-list.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { MAX_RUNNING_ROWS, runningTasksMessage } from './running-tasks-message.ts';

/** A channel, and who asks about it. */
export interface ChannelActor {
  workspace: string;
  channel: string;
  person: string;
}

/** What the command tells of a channel, for one person's eyes. */
export class RunningTasks {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** What works for the person in the channel, each with a button that stops it. */
  async list({ workspace, channel, person }: ChannelActor): Promise<RenderedMessage> {
    const { runningTurns: channelTasks } = this.#deps.store;
    const [own, all] = await Promise.all([
      channelTasks.ofUser({ workspace, channel, person }, MAX_RUNNING_ROWS + 1),
      channelTasks.countInChannel(workspace, channel),
    ]);
    const slack = this.#deps.workspace(workspace);
    const rows = await Promise.all(
      own.map(async ({ turn, root, title, stopping, startedAt }) => ({
        turnId: turn,
        title,
        stopping,
        ms: Date.now() - startedAt.getTime(),
        url: slack && (await threadPermalink(slack, { channel, root })),
      })),
    );
    return runningTasksMessage(rows, own.length > MAX_RUNNING_ROWS ? 0 : all - own.length);
  }
}
