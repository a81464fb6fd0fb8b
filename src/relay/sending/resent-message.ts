import type { Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';

/** The turn whose message a message repeats word for word; undefined for a message with words of its own. */
export async function resentTurn(
  { turns }: Pick<Store, 'turns'>,
  { workspace, resends_turn_id: id }: Pick<Message, 'workspace' | 'resends_turn_id'>,
): Promise<Turn | undefined> {
  const turn = id === null ? undefined : await turns.get(workspace, id);
  // A turn that ended before its message was frozen has no words. The message that repeats it has the same ones.
  return turn?.prompt == null ? undefined : turn;
}

/** A turn's prompt without what was quoted before it; '' if it is no longer kept. */
export function unquotedPrompt({ prompt, instructions_length, quotation_length }: Turn): string {
  return (prompt ?? '').slice(instructions_length + quotation_length);
}

/** The turns whose message a message sends again, the latest first. */
export async function resendChain({ turns, messages }: Store, message: Message): Promise<Turn[]> {
  const resent: Turn[] = [];
  for (let id = message.resends_turn_id; id !== null; ) {
    const turn: Turn | undefined = await turns.get(message.workspace, id);
    if (turn === undefined) break;
    resent.push(turn);
    id = (await messages.get(messageKeyOf(turn)))?.resends_turn_id ?? null;
  }
  return resent;
}
