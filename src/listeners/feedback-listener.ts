import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type AnswerFeedback, MAX_COMMENT_CHARACTERS } from '../features/feedback/answer-feedback.ts';
import type { ControlOutcome } from '../relay/runtime/control-types.ts';
import { parseFeedback } from '../render/messages/feedback-buttons.ts';
import * as strings from '../render/strings/index.ts';
import { type PressLocation, parseForm, parsePress, runAfterAck, type SendEphemeral } from './press.ts';

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
    else background(tellOutcome(location, outcome));
  });

  app.action('feedback_comment', async ({ ack, body }) => {
    const { location, turnId, triggerId } = parsePress(body) ?? {};
    await ack();
    if (location === undefined || turnId === undefined || triggerId === undefined) return;
    const request = { ...location, turnId, triggerId };
    background(feedback.openCommentForm(request).then((outcome) => tellOutcome(location, outcome)));
  });

  app.view('feedback_comment', async ({ ack, body }) => {
    const form = parseForm(body, commentValues);
    const turnId = z.uuid().safeParse(form?.metadata).data;
    if (form === undefined || turnId === undefined) {
      log.debug('ignored a comment form that cannot be read');
      await ack();
      return;
    }
    const comment = (form.values.comment.comment.value ?? '').trim().slice(0, MAX_COMMENT_CHARACTERS);
    const isSaved = comment === '' || (await feedback.saveComment({ ...form.actor, turnId }, comment));
    if (isSaved) await ack();
    else await ack({ response_action: 'errors', errors: { comment: strings.commentTooLate } });
  });

  async function tellOutcome(
    location: PressLocation | undefined,
    outcome: ControlOutcome | 'late',
  ): Promise<void> {
    if (location === undefined || outcome === 'done' || outcome === 'refused') return;
    await sendEphemeral(location, strings.controlFailed[outcome]);
  }

  function background(work: Promise<void>): void {
    runAfterAck(work, log, 'could not answer a press about feedback');
  }
}
