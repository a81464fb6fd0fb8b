import type { FileNote, Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { isNoteResent } from './allowed-files.ts';

/** What a turn sent to the agent, to be sent again. */
export interface ResentMessage {
  content: string;
  attached_file_ids: string[];
  notes: FileNote[];
  skill: string | null;
  quoted_ids: string[];
  /** The task that it was for. */
  taskId: string | null;
}

/** What a message resends, word for word, without what was quoted of former tasks. Undefined for one with its own text. */
export async function findResentMessage(
  { turns }: Pick<Store, 'turns'>,
  { workspace, resends_turn_id }: Pick<Message, 'workspace' | 'resends_turn_id'>,
): Promise<ResentMessage | undefined> {
  if (resends_turn_id === null) return undefined;
  const turn: Turn | undefined = await turns.get(workspace, resends_turn_id);
  // A turn that ended before its message was frozen has nothing to resend: the message is sent like any other.
  if (turn === undefined || turn.prompt === null) return undefined;
  const { prompt, attached_file_ids, file_notes: notes, skill, quoted_ids, task_id: taskId } = turn;
  return {
    content: prompt.slice(turn.instructions_length + turn.quotation_length),
    attached_file_ids: attached_file_ids ?? [],
    notes: (notes ?? []).filter(isNoteResent),
    skill,
    quoted_ids,
    taskId,
  };
}

/** The turns whose message this one sends again, the latest first. */
export async function turnsResent(
  { turns, messages }: Pick<Store, 'turns' | 'messages'>,
  message: Message,
): Promise<Turn[]> {
  const resent: Turn[] = [];
  for (let id = message.resends_turn_id; id !== null; ) {
    const turn: Turn | undefined = await turns.get(message.workspace, id);
    if (turn === undefined) break;
    resent.push(turn);
    id = (await messages.get(messageKeyOf(turn)))?.resends_turn_id ?? null;
  }
  return resent;
}
