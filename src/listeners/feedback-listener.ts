import { z } from 'zod';
import { type AnswerFeedback, MAX_COMMENT_CHARACTERS } from '../features/feedback/answer-feedback.ts';
import { parseFeedback } from '../render/messages/feedback-buttons.ts';
import * as strings from '../render/strings/index.ts';
import {
  explainOutcome,
  formErrors,
  type ListenerContext,
  onForm,
  onPress,
  parsePress,
  runAfterAck,
} from './press.ts';

/** Handles thumbs and comments; both are saved before they are acknowledged. */
export function registerFeedbackListeners(context: ListenerContext, feedback: AnswerFeedback): void {
  const { app, log, sendEphemeral } = context;
  app.action('feedback', async ({ ack, body }) => {
    const { location, value = '' } = parsePress(body) ?? {};
    const thumb = parseFeedback(value);
    const outcome = location && thumb && (await feedback.rate({ ...location, ...thumb }));
    await ack();
    if (outcome === undefined) return log.debug('ignored a thumb that is not for this app');
    const explained = explainOutcome(sendEphemeral, location, outcome);
    runAfterAck(explained, log, 'could not answer a press on a thumb');
  });

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
