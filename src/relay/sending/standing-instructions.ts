import { withQuotation } from '../../render/prompt-frame.ts';
import * as strings from '../../render/strings/index.ts';
import { toOneLine } from '../../render/text-format.ts';
import type { Turn } from '../../store/schema.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { blockquote } from '../reading/message-to-markdown.ts';
import type { ThreadWork } from '../runtime/deps.ts';

/** What is recorded with a message that quotes no instructions. */
export const NO_INSTRUCTIONS = {
  instructions_length: 0,
  instructions_set_by: null,
  instructions_set_at: null,
};

/**
 * What is recorded with a prompt that quotes the channel's standing instructions: the first of its task, unless it runs a
 * skill. Else NO_INSTRUCTIONS. The author of the instructions counts as quoted. A resent message quotes them anew.
 */
export async function withStandingInstructions(
  { deps: { store, settings, log }, workspace }: ThreadWork,
  turn: Turn,
  taskId: string,
  { prompt, quoted_ids, skill }: Pick<Turn, 'quoted_ids' | 'skill'> & { prompt: string },
): Promise<TurnUpdate> {
  if ((skill ?? settings.skill) !== undefined) return NO_INSTRUCTIONS;
  if (await store.threads.hasOtherTurnSent(turn, taskId)) return NO_INSTRUCTIONS;
  // Read again: since the turn began, they may have been changed, or erased with their writer.
  const { instructions } = await store.settings.get(turn.workspace, turn.channel);
  if (instructions === null) return NO_INSTRUCTIONS;
  const { text, set_by, set_at } = instructions;
  if (text === '') {
    log.error({ code: 'unreadable_instructions' }, 'no key decrypts the standing instructions of a channel');
    return NO_INSTRUCTIONS;
  }
  const name = toOneLine(await workspace.people.personName(set_by));
  const heading = strings.standingInstructions(name, set_at);
  const whole = withQuotation(`${heading}\n\n${blockquote(text)}`, prompt, strings.messageBelow);
  return {
    prompt: whole,
    instructions_length: whole.length - prompt.length,
    quoted_ids: [...new Set([...quoted_ids, set_by])],
    instructions_set_by: set_by,
    instructions_set_at: set_at,
  };
}
