import { plainText, type RenderedMessage } from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';
import { noteWithButtons } from './button-notes.ts';

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
