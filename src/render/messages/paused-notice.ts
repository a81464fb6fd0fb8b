import { plainText, type RenderedMessage } from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';
import { noteWithButtons } from './button-notes.ts';

/**
 * Says that messages wait in a thread since its agent was stopped, with buttons to let them go (`go`) or to take them
 * back (`take_back`); their value is the id of the stopped turn. `who` is a name, or ''.
 */
export function pausedNotice(turnId: string, count: number, who: string): RenderedMessage {
  const { sendPaused: go, discardPaused: takeBack } = strings.buttons;
  return noteWithButtons(strings.messagesPaused(count, who), { go, take_back: takeBack }, turnId);
}

/** The same post when nothing is held any more. */
export function pauseEndedNotice(sentence: string): RenderedMessage {
  return { text: sentence, blocks: [{ type: 'context', elements: [plainText(sentence)] }] };
}
