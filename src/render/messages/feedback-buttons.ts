import type { ContextActionsBlock } from '@slack/types';
import { plainText, type RenderedMessage } from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';
import { noteWithButtons } from './button-notes.ts';

/** Thumbs below an answer (`feedback`); the value says which, and names the turn. */
export function feedbackButtons(turnId: string): ContextActionsBlock {
  const thumb = (good: boolean) => ({
    text: plainText(good ? strings.buttons.thumbsUp : strings.buttons.thumbsDown),
    accessibility_label: good ? strings.thumbsUpLabel : strings.thumbsDownLabel,
    value: `${good ? 'good' : 'bad'}/${turnId}`,
  });
  const element = {
    type: 'feedback_buttons' as const,
    action_id: 'feedback',
    positive_button: thumb(true),
    negative_button: thumb(false),
  };
  return { type: 'context_actions', elements: [element] };
}

/** Reads the value of a thumb; undefined if it is invalid. */
export function parseFeedback(value: string): { turnId: string; good: boolean } | undefined {
  const match = /^(good|bad)\/([\da-f-]{36})$/.exec(value);
  return match?.[2] === undefined ? undefined : { turnId: match[2], good: match[1] === 'good' };
}

/** Thanks, with a button to comment (`feedback_comment`; the value is the turn's id). */
export function feedbackThanksMessage(turnId: string): RenderedMessage {
  return noteWithButtons(strings.feedback.thanks, { feedback_comment: strings.buttons.addComment }, turnId);
}
