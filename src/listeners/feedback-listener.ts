import { z } from 'zod';
import { type AnswerFeedback, MAX_COMMENT_CHARACTERS } from '../features/answer-feedback.ts';
import { parseFeedback } from '../render/messages/button-notes.ts';
import * as strings from '../render/strings/index.ts';
import { formErrors, type ListenerContext, onForm, onPress } from './press.ts';

/** Handles thumbs and comments; both are saved before they are acknowledged. */
export function registerFeedbackListeners(context: ListenerContext, feedback: AnswerFeedback): void {
  onPress(
    context,
    'feedback',
    async ({ location, value }) => {
      const thumb = parseFeedback(value);
      return location && thumb && feedback.rate({ ...location, ...thumb });
    },
    'when_recorded',
  );

  onPress(context, 'feedback_comment', async ({ location, turnId, triggerId }) => {
    if (location === undefined || turnId === undefined) return undefined;
    return feedback.openCommentForm({ ...location, turnId, triggerId });
  });

  onForm(context, 'feedback_comment', async ({ actor, metadata, input }) => {
    const turnId = z.uuid().safeParse(metadata).data;
    const comment = (input('comment')?.value ?? '').trim().slice(0, MAX_COMMENT_CHARACTERS);
    if (turnId === undefined || comment === '') return undefined;
    const isSaved = await feedback.saveComment({ ...actor, turnId }, comment);
    return formErrors(isSaved ? {} : { comment: strings.feedback.tooLate });
  });
}
