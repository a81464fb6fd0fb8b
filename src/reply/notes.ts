import { type ButtonElement, plainText, type RenderedMessage, sectionBlock } from './slack-blocks.ts';
import * as words from './words.ts';

/** Offers to send the new words of a message that the agent has already (`correct`; the value is the turn's id). */
export function lateEditNote(turnId: string): RenderedMessage {
  return noteWithButtons(words.editedTooLate, { correct: words.buttons.correct }, turnId);
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function lateDeletionNote(turnId: string): RenderedMessage {
  return noteWithButtons(words.deletedTooLate, { stop: words.buttons.stop }, turnId);
}

/** Says that a task's model and the like are fixed, and offers a new thread (`new_thread`). */
export function fixedChoicesNote(turnId: string, isModel: boolean): RenderedMessage {
  const text = isModel ? words.modelIsFixed : words.choicesAreFixed;
  return noteWithButtons(text, { new_thread: words.buttons.newThread }, turnId);
}

/** A sentence with buttons below it: their words, by their action ids. Their value is the turn's id. */
export function noteWithButtons(
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
  return { text, blocks: [sectionBlock(text), { type: 'actions', elements }] };
}
