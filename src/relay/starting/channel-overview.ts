import { ROWS_MOST, runningAnswer } from '../../reply/command-answers.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import type { RelayParts } from '../context.ts';
import { addressOf } from '../tasks/task-list.ts';

/** A channel, and who asks about it. */
export interface ChannelQuestion {
  workspace: string;
  channel: string;
  person: string;
}

/** What the command tells of a channel, for one person's eyes. */
export class ChannelOverview {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** What works for the person in the channel, each with a button that stops it. */
  async running({ workspace, channel, person }: ChannelQuestion): Promise<RenderedMessage> {
    const { channelTasks } = this.#parts.store;
    const [theirs, all] = await Promise.all([
      channelTasks.runningFor({ workspace, channel, person }, ROWS_MOST + 1),
      channelTasks.running(workspace, channel),
    ]);
    const slack = this.#parts.workspace(workspace);
    const rows = await Promise.all(
      theirs.map(async ({ turn, root, title, stopping, startedAt }) => ({
        turnId: turn,
        title,
        stopping,
        ms: Date.now() - startedAt.getTime(),
        url: slack && (await addressOf(slack, { channel, root })),
      })),
    );
    return runningAnswer(rows, theirs.length > ROWS_MOST ? 0 : all - theirs.length);
  }
}
