import type { Store } from '../../store/store.ts';
import type { Message, Turn } from '../../store/tables.ts';

/** What a turn sent to the agent, as it is sent again. */
export interface SentBefore {
  content: string;
  attached: string[];
  skill: string | null;
  /** The task that it went to, or was to go to. */
  taskId: string | null;
}

/** What a message sends again: word for word, with the same files. Undefined for one with words of its own. */
export async function sentBefore(
  { turns }: Pick<Store, 'turns'>,
  { workspace, resends }: Pick<Message, 'workspace' | 'resends'>,
): Promise<SentBefore | undefined> {
  if (resends === null) return undefined;
  const turn: Turn | undefined = await turns.get(workspace, resends);
  // One that ended before its message was frozen has nothing to repeat: the message goes like any other.
  if (turn === undefined || turn.content === null) return undefined;
  return { content: turn.content, attached: turn.attached ?? [], skill: turn.skill, taskId: turn.task_id };
}
