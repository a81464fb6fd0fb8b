import {
  actionsBlock,
  buttonElement,
  plainText,
  type RenderedMessage,
  sectionBlock,
} from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';

/** Offers to send the new text of a message that the agent already has (`correct`; the value is the turn's id). */
export function lateEditNote(turnId: string): RenderedMessage {
  return noteWithButtons(strings.editedAfterSending, { correct: strings.buttons.sendCorrection }, turnId);
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function lateDeletionNote(turnId: string): RenderedMessage {
  return noteWithButtons(strings.deletedAfterSending, { stop: strings.buttons.stop }, turnId);
}

/** Says that a task keeps its model or options, and offers a new thread (`new_thread`). */
export function fixedChoicesNote(turnId: string, isModel: boolean): RenderedMessage {
  const text = isModel ? strings.modelFixed : strings.optionsFixed;
  return noteWithButtons(text, { new_thread: strings.buttons.newThread }, turnId);
}

/**
 * Says that messages are paused since the agent was stopped, with buttons to send (`go`) or discard (`take_back`) them;
 * their value is the id of the stopped turn. `who` is a name, or ''.
 */
export function pausedNotice(turnId: string, count: number, who: string): RenderedMessage {
  const { sendPaused, discardPaused } = strings.buttons;
  const buttons = { go: sendPaused, take_back: discardPaused };
  return noteWithButtons(strings.messagesPaused(count, who), buttons, turnId);
}

/** The same post once no messages are paused. */
export function pauseEndedNotice(sentence: string): RenderedMessage {
  return { text: sentence, blocks: [{ type: 'context', elements: [plainText(sentence)] }] };
}

/** A sentence with buttons below it; `buttons` maps action ids to labels. Their value is the turn's id. */
export function noteWithButtons(
  text: string,
  buttons: Readonly<Record<string, string>>,
  turnId: string,
): RenderedMessage {
  const elements = Object.entries(buttons).map(([id, label]) => buttonElement(id, label, turnId));
  return { text, blocks: [sectionBlock(text), actionsBlock(elements)] };
}
