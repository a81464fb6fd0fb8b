import { type ButtonElement, plainText, type RenderedMessage, section } from './slack-blocks.ts';
import * as words from './words.ts';

/** Offers to send the new words of a message that the agent has already (`correct`; the value is the turn's id). */
export function correctionNote(turnId: string): RenderedMessage {
  return note(words.editedTooLate, { correct: words.buttons.correct }, turnId);
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function deletionNote(turnId: string): RenderedMessage {
  return note(words.deletedTooLate, { stop: words.buttons.stop }, turnId);
}

/** Says that a task's model and the like are fixed, and offers a new thread (`new_thread`). */
export function fixedNote(turnId: string, model: boolean): RenderedMessage {
  const text = model ? words.modelIsFixed : words.choicesAreFixed;
  return note(text, { new_thread: words.buttons.newThread }, turnId);
}

/** A sentence with buttons below it: their words, by their action ids. Their value is the turn's id. */
export function note(
  text: string,
  buttons: Readonly<Record<string, string>>,
  turnId: string,
): RenderedMessage {
  const elements = Object.entries(buttons).map(
    ([id, label]): ButtonElement => ({
      type: 'button',
      action_id: id,
      text: plainText(label),
      value: turnId,
    }),
  );
  return { text, blocks: [section(text), { type: 'actions', elements }] };
}
