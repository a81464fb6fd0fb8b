import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type AnswerFeedback, MAX_COMMENT_CHARACTERS } from '../features/feedback/answer-feedback.ts';
import { parseFeedback } from '../render/messages/feedback-buttons.ts';
import * as strings from '../render/strings/index.ts';
import {
  explainOutcome,
  formErrors,
  onForm,
  onPress,
  parsePress,
  runAfterAck,
  type SendEphemeral,
} from './press.ts';

const commentValues = z.looseObject({
  comment: z.looseObject({ comment: z.looseObject({ value: z.string().nullish() }) }),
});

/** Handles thumbs and comments; both are saved before they are acknowledged. */
export function registerFeedbackListeners(
  app: App,
  feedback: Pick<AnswerFeedback, 'rate' | 'openCommentForm' | 'saveComment'>,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.action(/^feedback(?:_good|_bad)?$/, async ({ ack, body }) => {
    const { location, value = '' } = parsePress(body) ?? {};
    const thumb = parseFeedback(value);
    const outcome = location && thumb && (await feedback.rate({ ...location, ...thumb }));
    await ack();
    if (outcome === undefined) log.debug('ignored a thumb that is not for this app');
    else
      runAfterAck(
        explainOutcome(sendEphemeral, location, outcome),
        log,
        'could not answer a press on a thumb',
      );
  });

  onPress(app, 'feedback_comment', log, async ({ location, turnId, triggerId }) => {
    if (location === undefined || turnId === undefined) return;
    const outcome = await feedback.openCommentForm({ ...location, turnId, triggerId });
    await explainOutcome(sendEphemeral, location, outcome);
  });

  onForm(app, 'feedback_comment', commentValues, log, async ({ actor, metadata, values }) => {
    const turnId = z.uuid().safeParse(metadata).data;
    const comment = (values.comment.comment.value ?? '').trim().slice(0, MAX_COMMENT_CHARACTERS);
    if (turnId === undefined || comment === '') return undefined;
    const isSaved = await feedback.saveComment({ ...actor, turnId }, comment);
    return formErrors(isSaved ? {} : { comment: strings.feedback.tooLate });
  });
}
