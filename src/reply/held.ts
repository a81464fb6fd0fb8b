import { type ButtonElement, plainText, type RenderedMessage } from './slack-blocks.ts';
import * as words from './words.ts';

/**
 * Says that messages wait in a thread since its agent was stopped, with buttons to let them go (`go`) or to take them
 * back (`take_back`); their value is the id of the stopped turn. `who` is a name, or ''.
 */
export function heldMessage(turnId: string, count: number, who: string): RenderedMessage {
  const text = words.held(count, who);
  const elements = (['go', 'takeBack'] as const).map(
    (action): ButtonElement => ({
      type: 'button',
      action_id: action === 'go' ? 'go' : 'take_back',
      text: plainText(words.buttons[action]),
      value: turnId,
    }),
  );
  return {
    text,
    blocks: [
      { type: 'section', text: plainText(text) },
      { type: 'actions', elements },
    ],
  };
}

/** The same post when nothing is held any more. */
export function heldNoMore(sentence: string): RenderedMessage {
  return { text: sentence, blocks: [{ type: 'context', elements: [plainText(sentence)] }] };
}
