import { type ButtonElement, plainText, type RenderedMessage } from './slack-blocks.ts';
import * as words from './words.ts';

/** Offers to send the new words of a message that the agent has already (`correct`; the value is the turn's id). */
export function correctionNote(turnId: string): RenderedMessage {
  return note(words.editedTooLate, { action_id: 'correct', text: words.buttons.correct, value: turnId });
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function deletionNote(turnId: string): RenderedMessage {
  return note(words.deletedTooLate, { action_id: 'stop', text: words.buttons.stop, value: turnId });
}

/** Says that a task's model and the like are fixed, and offers a new thread (`new_thread`). */
export function fixedNote(turnId: string, model: boolean): RenderedMessage {
  const text = model ? words.modelIsFixed : words.choicesAreFixed;
  return note(text, { action_id: 'new_thread', text: words.buttons.newThread, value: turnId });
}

function note(text: string, button: { action_id: string; text: string; value: string }): RenderedMessage {
  const element: ButtonElement = { ...button, type: 'button', text: plainText(button.text) };
  return {
    text,
    blocks: [
      { type: 'section', text: plainText(text) },
      { type: 'actions', elements: [element] },
    ],
  };
}
