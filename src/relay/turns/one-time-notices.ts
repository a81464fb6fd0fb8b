import * as strings from '../../render/strings/index.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { threadPermalink } from '../tasks/task-summaries.ts';
import type { TurnContext } from './turn-context.ts';

/**
 * Asks Slack whether another organisation can read the channel. Returns a function that waits for the answer,
 * and posts a notice once in a channel that is shared. It throws a SlackError if Slack does not answer.
 */
export function prepareSharedChannelNotice(context: TurnContext): () => Promise<void> {
  const { deps, workspace, turn, lease } = context;
  if (isDirectChannel(turn.channel)) return async () => undefined;
  const ask = () => workspace.people.sharing(turn.channel, lease.signal);
  // A turn that began in this process has asked already, with what its first reply needs.
  const asked = context.begun?.firstReply.isShared ?? ask();
  asked.catch(() => undefined); // The function below asks again.
  return async () => {
    const isShared = await asked.catch(ask);
    if (isShared !== true || !(await deps.store.channels.claimNotice(turn, 'shared'))) return;
    await context.reply.posts.postNotice('notice:shared', strings.sharedChannel);
  };
}

/** Explains once in a direct conversation, after a task has ended, that a message at the top begins another. */
export async function postNewTaskNotice(context: TurnContext): Promise<void> {
  const { deps, workspace, turn } = context;
  if (!isDirectChannel(turn.channel) || turn.message_ts !== turn.thread_ts) return;
  const previous = await deps.store.tasks.previousFinished(turn);
  if (previous === undefined || !(await deps.store.channels.claimNotice(turn, 'new_task_in_dm'))) return;
  const url = previous.permalink ?? (await threadPermalink(workspace, previous));
  await context.reply.posts.postNotice('notice:new_task', strings.newTaskInDm(url));
}
