import { closingAt } from '../relay/access/where-it-answers.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { isDirectChannel } from '../relay/runtime/incoming-message.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import * as strings from '../render/strings/index.ts';
import { shorten } from '../render/text/shorten.ts';
import type { ThreadKey } from '../store/schema.ts';

/** Characters of a title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const MAX_TITLE_CHARACTERS = 200;

/** What only direct messages have where Slack lists the app as an agent. */
export class TitlesAndPrompts {
  readonly #deps: Pick<RelayDeps, 'store' | 'settings' | 'workspace' | 'log'>;

  constructor(deps: Pick<RelayDeps, 'store' | 'settings' | 'workspace' | 'log'>) {
    this.#deps = deps;
  }

  /** Suggests prompts to a person who opens their direct messages. Throws a SlackError. */
  async suggestPrompts(workspace: string, channel: string): Promise<void> {
    if ((await closingAt(this.#deps, { workspace, channel })) !== undefined) return;
    const { title, list } = strings.prompts;
    await this.#deps.workspace(workspace)?.sessions?.setSuggestedPrompts(channel, title, list);
  }

  /** Has Slack show the title of a task that was started. Returns at once; never throws. */
  onTaskStarted({ workspace, channel, thread_ts }: ThreadKey, title: string): void {
    if (!isDirectChannel(channel)) return;
    const sessions = this.#deps.workspace(workspace)?.sessions;
    if (sessions === undefined) return;
    const work = sessions.setTitle(channel, thread_ts, shorten(title, MAX_TITLE_CHARACTERS));
    inBackground(work, this.#deps.log, 'could not set the title of a direct message thread');
  }
}
