import { noteWithButtons } from './notes.ts';
import { plainText, type RenderedMessage } from './slack-blocks.ts';
import * as words from './words.ts';

/**
 * Says that messages wait in a thread since its agent was stopped, with buttons to let them go (`go`) or to take them
 * back (`take_back`); their value is the id of the stopped turn. `who` is a name, or ''.
 */
export function pausedNotice(turnId: string, count: number, who: string): RenderedMessage {
  const { go, takeBack } = words.buttons;
  return noteWithButtons(words.held(count, who), { go, take_back: takeBack }, turnId);
}

/** The same post when nothing is held any more. */
export function pauseEndedNotice(sentence: string): RenderedMessage {
  return { text: sentence, blocks: [{ type: 'context', elements: [plainText(sentence)] }] };
}
