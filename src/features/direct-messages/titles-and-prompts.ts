import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { type InboxOutcome, isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { threadPermalink } from '../../relay/tasks/task-list.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';
import { SlackError } from '../../slack/errors.ts';
import type { ThreadKey } from '../../store/keys.ts';

/** Characters of a title (https://docs.slack.dev/reference/methods/agents.sessions.rename). */
const MAX_TITLE_CHARACTERS = 200;
const NEW_TASK_NOTICE = 'new_task_in_dm' as const;

/** What only direct messages have: each message at the top level begins a task. */
export class TitlesAndPrompts {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Explains once to a person who writes after a finished task that this began a new one. Returns at once; never throws. */
  onInboxOutcome(outcome: InboxOutcome, { ts }: { ts: string }): void {
    if (outcome.kind !== 'admitted' || outcome.thread.thread_ts !== ts) return;
    if (!isDirectChannel(outcome.thread.channel)) return;
    this.#explainNewTask(outcome.thread).catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'could not explain a new task in a direct message');
    });
  }

  /** Suggests prompts to a person who opens their direct messages. Throws a SlackError. */
  async suggestPrompts(workspace: string, channel: string): Promise<void> {
    const { title, list } = strings.prompts;
    await this.#deps.workspace(workspace)?.sessions?.setSuggestedPrompts(channel, title, list);
  }

  /** Has Slack show the title of a task that was started. Returns at once; never throws. */
  onTaskStarted({ workspace, channel, thread_ts }: ThreadKey, title: string): void {
    if (!isDirectChannel(channel)) return;
    const naming = this.#deps
      .workspace(workspace)
      ?.sessions?.setTitle(channel, thread_ts, shorten(title, MAX_TITLE_CHARACTERS));
    naming?.catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'could not set the title of a direct message thread');
    });
  }

  async #explainNewTask(thread: ThreadKey): Promise<void> {
    const { store } = this.#deps;
    const workspace = this.#deps.workspace(thread.workspace);
    const previousTask = await store.tasks.previousFinished(thread);
    if (workspace === undefined || previousTask === undefined) return;
    const notice = { workspace: thread.workspace, channel: thread.channel, notice: NEW_TASK_NOTICE };
    if (!(await store.oneTimeNotices.claim(notice))) return;
    try {
      await postNewTaskNotice(
        workspace,
        thread,
        previousTask.permalink ?? (await threadPermalink(workspace, previousTask)),
      );
    } catch (error) {
      if (error instanceof SlackError && error.outcome === 'none') await store.oneTimeNotices.release(notice);
      throw error;
    }
  }
}

async function postNewTaskNotice(
  { posting }: WorkspaceClient,
  thread: ThreadKey,
  url: string | undefined,
): Promise<void> {
  const { channel, thread_ts: threadTs } = thread;
  const message = { text: strings.newTaskInDm(url) };
  const key = `${thread.workspace}/${channel}/${NEW_TASK_NOTICE}`;
  await posting.post({ channel, threadTs, message, key, kind: 'notice' });
}
