import { ROWS_MOST, runningAnswer } from '../../reply/command-answers.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { RelayParts } from '../context.ts';

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
    const place = { workspace, channel };
    const [theirs, all] = await Promise.all([
      channelTasks.runningFor({ ...place, person }, ROWS_MOST + 1),
      channelTasks.running(workspace, channel),
    ]);
    const rows = await Promise.all(
      theirs.map(async ({ turn, root, title, stopping, startedAt }) => ({
        turnId: turn,
        title,
        stopping,
        ms: Date.now() - startedAt.getTime(),
        url: await this.#url(place, root),
      })),
    );
    return runningAnswer(rows, theirs.length > ROWS_MOST ? 0 : all - theirs.length);
  }

  async #url(place: { workspace: string; channel: string }, ts: string): Promise<string | undefined> {
    try {
      return await this.#parts.workspace(place.workspace)?.posting.permalink({ channel: place.channel, ts });
    } catch (error) {
      if (error instanceof SlackError) return undefined;
      throw error;
    }
  }
}
