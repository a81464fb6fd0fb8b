import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { blockquote, toSingleLine } from '../reading/message-to-markdown.ts';
import type { ThreadWork } from '../runtime/deps.ts';

/** What is sent, before the channel's instructions are quoted. */
type Unquoted = Pick<Turn, 'quoted_ids' | 'quotation_length'> & { prompt: string; skill: string | null };

const NOT_QUOTED = { instructions_set_by: null, instructions_set_at: null };

/**
 * The prompt after the channel's standing instructions, if it is the first message to its task and runs no skill. Whoever
 * set them is among those whose words it quotes. A retry leaves them out, as all that was quoted before the prompt.
 */
export async function withStandingInstructions(
  { deps: { store, settings, log }, workspace }: ThreadWork,
  turn: Turn,
  taskId: string,
  { prompt, quotation_length, quoted_ids, skill }: Unquoted,
): Promise<TurnUpdate> {
  if ((skill ?? settings.skill) !== undefined) return NOT_QUOTED;
  if (await store.turns.isTaskBegun(turn, taskId)) return NOT_QUOTED;
  // Since the turn began, somebody may have changed them, or been forgotten.
  const { instructions } = await store.settings.get(turn.workspace, turn.channel);
  if (instructions === null) return NOT_QUOTED;
  const { text, set_by, set_at } = instructions;
  if (text === '') {
    log.error({ code: 'unreadable_instructions' }, 'no key decrypts the standing instructions of a channel');
    return NOT_QUOTED;
  }
  const name = set_by === '' ? '' : toSingleLine(await workspace.people.personName(set_by));
  const quotation = `${strings.standingInstructions(name, set_at)}\n\n${blockquote(text)}\n\n---\n\n${strings.messageBelow}\n\n`;
  return {
    prompt: quotation + prompt,
    quotation_length: quotation_length + quotation.length,
    quoted_ids: [...new Set([...quoted_ids, set_by])],
    instructions_set_by: set_by,
    instructions_set_at: set_at,
  };
}
