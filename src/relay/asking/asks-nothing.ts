import * as words from '../../reply/words.ts';
import type { Message, Turn } from '../../store/tables.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { TurnEnds } from '../interruption.ts';
import type { Asking } from './asking.ts';
import { asksNothing, isFilesOnly, messageOf } from './question.ts';
import { sentBefore } from './resending.ts';

/** The message asks nothing, as it was read: the turn ends, unless people have changed it by then. */
export class AsksNothing extends TurnEnds {
  readonly read: Message;

  constructor(outcome: 'helped' | 'kept', sentence: string, read: Message) {
    super(outcome, sentence);
    this.read = read;
  }
}

/** Ends the turn of a message that is only a call for help: throws AsksNothing. */
export async function endIfNothingAsked(parts: RelayParts, workspace: Workspace, turn: Turn): Promise<void> {
  const message = await messageOf(parts, turn);
  if (turn.content !== null || message.words === null) return;
  if (!asksNothing(message.words, workspace.bot.userId)) return;
  const help = isDirect(turn.channel) ? words.helpInDm : words.help;
  const { task_id } = await parts.store.threads.expect(turn);
  throw new AsksNothing('helped', task_id === null ? help : words.helpInThread, message);
}

/**
 * Ends the turn of a message that is only files, when they are at the service and recorded for the thread's next
 * message: throws AsksNothing, whose sentence says what is kept.
 */
export async function endIfOnlyFiles(
  parts: RelayParts,
  workspace: Workspace,
  turn: Turn,
  asking: () => Pick<Asking, 'keep'>,
): Promise<void> {
  const message = await messageOf(parts, turn);
  if (turn.content !== null || message.words === null) return;
  if (!isFilesOnly(message.words, workspace.bot.userId)) return;
  if ((await sentBefore(parts.store, message)) !== undefined) return;
  const { attached, notes } = await asking().keep();
  await parts.store.turns.record(turn, { attached, file_notes: notes });
  const kept = notes.filter(({ reason }) => reason === null || reason === 'external').map(({ name }) => name);
  throw new AsksNothing('kept', kept.length === 0 ? words.noFilesKept : words.filesKept(kept), message);
}
