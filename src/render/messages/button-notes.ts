import { actionsBlock, buttonElement, type RenderedMessage, sectionBlock } from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';

/** Offers to send the new words of a message that the agent has already (`correct`; the value is the turn's id). */
export function lateEditNote(turnId: string): RenderedMessage {
  return noteWithButtons(strings.editedAfterSending, { correct: strings.buttons.sendCorrection }, turnId);
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function lateDeletionNote(turnId: string): RenderedMessage {
  return noteWithButtons(strings.deletedAfterSending, { stop: strings.buttons.stop }, turnId);
}

/** Says that a task's model and the like are fixed, and offers a new thread (`new_thread`). */
export function fixedChoicesNote(turnId: string, isModel: boolean): RenderedMessage {
  const text = isModel ? strings.modelFixed : strings.optionsFixed;
  return noteWithButtons(text, { new_thread: strings.buttons.newThread }, turnId);
}

/** A sentence with buttons below it: their words, by their action ids. Their value is the turn's id. */
export function noteWithButtons(
  text: string,
  buttons: Readonly<Record<string, string>>,
  turnId: string,
): RenderedMessage {
  const elements = Object.entries(buttons).map(([id, label]) => buttonElement(id, label, turnId));
  return { text, blocks: [sectionBlock(text), actionsBlock(elements)] };
}
