import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ControlOutcome } from '../relay/controls/control.ts';
import type { Feedback } from '../relay/controls/feedback.ts';
import { COMMENT_MOST, readFeedback } from '../reply/feedback.ts';
import * as words from '../reply/words.ts';
import { behindAnswer, type PressPlace, readActor, readPlace, type Telling } from './press.ts';

/** Who takes feedback. */
export type FeedbackListener = Pick<Feedback, 'give' | 'ask' | 'comment'>;

const pressShape = z.looseObject({
  trigger_id: z.string(),
  actions: z.array(z.looseObject({ value: z.string() })).min(1),
});

const submissionShape = z.looseObject({
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
export function listenToFeedback(app: App, listener: FeedbackListener, tell: Telling, log: Logger): void {
  app.action(/^feedback(?:_good|_bad)?$/, async ({ ack, body }) => {
    const press = readPress(body);
    const thumb = press && readFeedback(press.value);
    const outcome = thumb && (await listener.give({ ...press.place, ...thumb }));
    await ack();
    if (outcome === undefined) log.debug('a thumb that is not for us is passed over');
    else go(answer(press, outcome));
  });

  app.action('feedback_comment', async ({ ack, body }) => {
    const press = readPress(body);
    await ack();
    if (press === undefined || !z.uuid().safeParse(press.value).success) return;
    const { place, triggerId, value: turnId } = press;
    go(listener.ask({ ...place, turnId, triggerId }).then((outcome) => answer(press, outcome)));
  });

  app.view('feedback_comment', async ({ ack, body }) => {
    const parsed = submissionShape.safeParse(body);
    const actor = readActor(body);
    if (!parsed.success || actor === undefined) {
      log.debug('a comment of a shape that we do not know is passed over');
      await ack();
      return;
    }
    const { view } = parsed.data;
    const said = (view.state.values.comment.comment.value ?? '').trim().slice(0, COMMENT_MOST);
    const request = { ...actor, turnId: view.private_metadata };
    const kept = said === '' || (await listener.comment(request, said));
    if (kept) await ack();
    else await ack({ response_action: 'errors', errors: { comment: words.commentTooLate } });
  });

  async function answer(press: Press | undefined, outcome: ControlOutcome | 'late'): Promise<void> {
    if (press === undefined || outcome === 'done' || outcome === 'refused') return;
    await tell(press.place, words.controlOver[outcome]);
  }

  function go(work: Promise<void>): void {
    behindAnswer(work, log, 'a press about feedback could not be answered');
  }
}

interface Press {
  place: PressPlace;
  triggerId: string;
  value: string;
}

function readPress(body: unknown): Press | undefined {
  const place = readPlace(body);
  const parsed = pressShape.safeParse(body);
  if (place === undefined || !parsed.success) return undefined;
  const { actions, trigger_id: triggerId } = parsed.data;
  return { place, triggerId, value: actions[0]?.value ?? '' };
}
