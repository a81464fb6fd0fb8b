import { shorten } from '../reply/graphemes.ts';
import * as words from '../reply/words.ts';
import { SlackError } from '../slack/errors.ts';
import type { ThreadKey } from '../store/keys.ts';
import { type Admission, isDirect } from './arriving/arrivals.ts';
import type { RelayParts, Workspace } from './context.ts';
import { addressOf } from './tasks/task-list.ts';

/** Characters of a title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const titleMost = 200;
const newTask = 'new_task_in_dm';

/** What is particular about direct messages, where each message at the top begins a task. */
export class DirectMessages {
  readonly #parts: RelayParts;
  readonly #isAgent: boolean;

  /** `isAgent`: the app is declared an agent, so that Slack shows titles and prompts. */
  constructor(parts: RelayParts, { isAgent }: { isAgent: boolean }) {
    this.#parts = parts;
    this.#isAgent = isAgent;
  }

  /** Explains once to a person who writes below a finished thread that this began a new task. Holds nothing up. */
  admitted(admission: Admission, { ts }: { ts: string }): void {
    if (admission.kind !== 'admitted' || admission.thread.root !== ts) return;
    if (!isDirect(admission.thread.channel)) return;
    this.#explain(admission.thread).catch((error: unknown) => {
      this.#parts.log.debug({ err: error }, 'a note on a new task was left out');
    });
  }

  /** Somebody looks at their direct messages: they get some prompts. Throws a SlackError. */
  async opened(workspace: string, channel: string): Promise<void> {
    if (!this.#isAgent) return;
    const { title, list } = words.prompts;
    await this.#parts.workspace(workspace)?.assistant.suggest(channel, title, list);
  }

  /** A thread's task was started: Slack shows its title. Holds nothing up. */
  begun({ workspace, channel, root }: ThreadKey, title: string): void {
    if (!this.#isAgent || !isDirect(channel)) return;
    const naming = this.#parts.workspace(workspace)?.assistant.name(channel, root, shorten(title, titleMost));
    naming?.catch((error: unknown) => {
      this.#parts.log.debug({ err: error }, 'a thread of direct messages could not be named');
    });
  }

  async #explain(thread: ThreadKey): Promise<void> {
    const { store } = this.#parts;
    const workspace = this.#parts.workspace(thread.workspace);
    const before = await store.tasks.finishedBefore(thread);
    if (workspace === undefined || before === undefined) return;
    const saying = { workspace: thread.workspace, channel: thread.channel, what: newTask };
    if (!(await store.toldOnce.claim(saying))) return;
    try {
      await say(workspace, thread, before.permalink ?? (await addressOf(workspace, before)));
    } catch (error) {
      if (error instanceof SlackError && error.outcome === 'none') await store.toldOnce.release(saying);
      throw error;
    }
  }
}

async function say({ posting }: Workspace, thread: ThreadKey, url: string | undefined): Promise<void> {
  const { channel, root: threadTs } = thread;
  const message = { text: words.newTaskInDm(url) };
  const key = `${thread.workspace}/${channel}/${newTask}`;
  await posting.post({ channel, threadTs, message, key, kind: 'notice' });
}
