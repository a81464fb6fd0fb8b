import { type FormView, inputBlock } from '../../render/blocks/form-inputs.ts';
import { createModal, noticeModal } from '../../render/blocks/modal.ts';
import { plainText } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';

/** The most that a plain-text input takes. */
export const MAX_COMMENT_CHARACTERS = 3_000;

/** The modal with one sentence: while the form loads, or in place of it. */
export function commentNoticeView(sentence: string): FormView {
  return noticeModal(strings.commentTitle, sentence);
}

/** The form for a comment on a turn's answer; `written` is the person's earlier comment. */
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
