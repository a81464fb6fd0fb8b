import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import type { Asking } from '../asking/asking.ts';
import type { RelayParts } from '../context.ts';
import { TurnEnds } from '../interruption.ts';

/**
 * Brings files that were shared without words to the service and records them for the thread's next message. Always
 * ends the turn: throws TurnEnds, whose sentence says what is kept.
 */
export async function keepFiles(
  parts: Pick<RelayParts, 'store'>,
  asking: Pick<Asking, 'keep'>,
  turn: Turn,
): Promise<never> {
  const { attached, notes } = await asking.keep();
  await parts.store.turns.record(turn, { attached, file_notes: notes });
  const kept = notes.filter(({ reason }) => reason === null || reason === 'external').map(({ name }) => name);
  throw new TurnEnds('kept', kept.length === 0 ? words.noFilesKept : words.filesKept(kept));
}
