import { type FormView, inputBlock } from '../blocks/form-inputs.ts';
import { createModal, noticeModal } from '../blocks/modal.ts';
import {
  actionsBlock,
  type ButtonElement,
  type ContextActionsBlock,
  plainText,
  type RenderedMessage,
  type SlackBlock,
} from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';
import { noteWithButtons } from './button-notes.ts';

/** Most characters of a comment. */
export const MAX_COMMENT_CHARACTERS = 3_000;

/** The thumbs below an answer (`feedback`); the value is the thumb and the turn's id. */
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

/**
 * The message with ordinary buttons (`feedback_good`, `feedback_bad`) instead of thumbs, for when Slack rejects those;
 * undefined if it has none.
 */
export function withPlainFeedbackButtons(message: RenderedMessage): RenderedMessage | undefined {
  if (!message.blocks.some(({ type }) => type === 'context_actions')) return undefined;
  return { ...message, blocks: message.blocks.map(plainFeedbackButtons) };
}

function plainFeedbackButtons(block: SlackBlock): SlackBlock {
  if (block.type !== 'context_actions') return block;
  const elements = block.elements.flatMap(({ positive_button, negative_button }): ButtonElement[] => [
    { type: 'button', action_id: 'feedback_good', ...positive_button },
    { type: 'button', action_id: 'feedback_bad', ...negative_button },
  ]);
  return actionsBlock(elements);
}

/** Thanks, with a button to comment (`feedback_comment`; the value is the turn's id). */
export function feedbackThanksMessage(turnId: string): RenderedMessage {
  return noteWithButtons(strings.feedbackThanks, { feedback_comment: strings.buttons.addComment }, turnId);
}

/** The comment modal without a form: while it loads, or if no comment is possible. */
export function commentNoticeView(sentence: string): FormView {
  return noticeModal(strings.commentTitle, sentence);
}

/** The form for a comment on a turn's answer (`feedback_comment`); `written` is the person's earlier comment. */
export function commentView(turnId: string, written: string | null): FormView {
  const comment = inputBlock(
    {
      type: 'plain_text_input',
      action_id: 'comment',
      multiline: true,
      max_length: MAX_COMMENT_CHARACTERS,
      ...(written === null ? {} : { initial_value: written }),
    },
    { label: strings.commentLabel, hint: strings.commentHint, optional: false },
  );
  return {
    ...createModal(strings.commentTitle, [comment]),
    callback_id: 'feedback_comment',
    private_metadata: turnId,
    submit: plainText(strings.buttons.send),
    close: plainText(strings.buttons.cancel),
  };
}
