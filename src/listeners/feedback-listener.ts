import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { AnswerFeedback } from '../features/feedback/answer-feedback.ts';
import type { ControlOutcome } from '../relay/runtime/control-types.ts';
import { MAX_COMMENT_CHARACTERS, parseFeedback } from '../render/messages/feedback-buttons.ts';
import * as strings from '../render/strings/index.ts';
import {
  type PressLocation,
  parseActor,
  parsePressLocation,
  runAfterAck,
  type SendEphemeral,
} from './press.ts';

/** Who takes feedback. */
export type FeedbackHandler = Pick<AnswerFeedback, 'rate' | 'openCommentForm' | 'saveComment'>;

const pressSchema = z.looseObject({
  trigger_id: z.string(),
  actions: z.array(z.looseObject({ value: z.string() })).min(1),
});

const submissionSchema = z.looseObject({
  view: z.looseObject({
    private_metadata: z.uuid(),
    state: z.looseObject({
      values: z.looseObject({
        comment: z.looseObject({ comment: z.looseObject({ value: z.string().nullish() }) }),
      }),
    }),
  }),
});

/** Takes thumbs and comments; both are written down before they are acknowledged. */
export function registerFeedbackListeners(
  app: App,
  handler: FeedbackHandler,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.action(/^feedback(?:_good|_bad)?$/, async ({ ack, body }) => {
    const press = parsePress(body);
    const thumb = press && parseFeedback(press.value);
    const outcome = thumb && (await handler.rate({ ...press.location, ...thumb }));
    await ack();
    if (outcome === undefined) log.debug('a thumb that is not for us is passed over');
    else background(tellOutcome(press, outcome));
  });

  app.action('feedback_comment', async ({ ack, body }) => {
    const press = parsePress(body);
    await ack();
    if (press === undefined || !z.uuid().safeParse(press.value).success) return;
    const { location, triggerId, value: turnId } = press;
    background(
      handler
        .openCommentForm({ ...location, turnId, triggerId })
        .then((outcome) => tellOutcome(press, outcome)),
    );
  });

  app.view('feedback_comment', async ({ ack, body }) => {
    const parsed = submissionSchema.safeParse(body);
    const actor = parseActor(body);
    if (!parsed.success || actor === undefined) {
      log.debug('a comment of a shape that we do not know is passed over');
      await ack();
      return;
    }
    const { view } = parsed.data;
    const comment = (view.state.values.comment.comment.value ?? '').trim().slice(0, MAX_COMMENT_CHARACTERS);
    const request = { ...actor, turnId: view.private_metadata };
    const kept = comment === '' || (await handler.saveComment(request, comment));
    if (kept) await ack();
    else await ack({ response_action: 'errors', errors: { comment: strings.commentTooLate } });
  });

  async function tellOutcome(
    press: FeedbackPress | undefined,
    outcome: ControlOutcome | 'late',
  ): Promise<void> {
    if (press === undefined || outcome === 'done' || outcome === 'refused') return;
    await sendEphemeral(press.location, strings.controlFailed[outcome]);
  }

  function background(work: Promise<void>): void {
    runAfterAck(work, log, 'a press about feedback could not be answered');
  }
}

interface FeedbackPress {
  location: PressLocation;
  triggerId: string;
  value: string;
}

function parsePress(body: unknown): FeedbackPress | undefined {
  const location = parsePressLocation(body);
  const parsed = pressSchema.safeParse(body);
  if (location === undefined || !parsed.success) return undefined;
  const { actions, trigger_id: triggerId } = parsed.data;
  return { location, triggerId, value: actions[0]?.value ?? '' };
}
