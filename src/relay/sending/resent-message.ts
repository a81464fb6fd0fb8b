import type { FileReason } from '../../render/strings/index.ts';
import type { FileNote, Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';

/** What a turn sent to the agent, as it is sent again. */
export interface ResentMessage {
  content: string;
  attached: string[];
  notes: FileNote[];
  skill: string | null;
  /** The task that it went to, or was to go to. */
  taskId: string | null;
}

/** What a message sends again: word for word, with the same files. Undefined for one with words of its own. */
export async function findResentMessage(
  { turns }: Pick<Store, 'turns'>,
  { workspace, resends }: Pick<Message, 'workspace' | 'resends'>,
): Promise<ResentMessage | undefined> {
  if (resends === null) return undefined;
  const turn: Turn | undefined = await turns.get(workspace, resends);
  // One that ended before its message was frozen has nothing to repeat: the message goes like any other.
  if (turn === undefined || turn.content === null) return undefined;
  const { content, attached, file_notes: notes, skill, task_id: taskId } = turn;
  return { content, attached: attached ?? [], notes: (notes ?? []).filter(isNoteResent), skill, taskId };
}

/** Whether a note goes along with its file: what was left out was told then, but not what was left behind since. */
export function isNoteResent({ reason }: FileNote): boolean {
  return reason === null || reason === ('left_behind' satisfies FileReason);
}
