import { z } from 'zod';
import { type AnswerFeedback, MAX_COMMENT_CHARACTERS } from '../features/answer-feedback.ts';
import type { ModalOutcome } from '../features/modals.ts';
import { type FreshLinksPress, parseStepsPage, type StepsPress } from '../features/steps-and-fresh-links.ts';
import type { ControlOutcome, MessagePress, Press, PressAnswer } from '../relay/runtime/control-request.ts';
import { parseFeedback } from '../render/messages/button-notes.ts';
import * as strings from '../render/strings/index.ts';
import { formErrors, type ListenerContext, onForm, onPress } from './press.ts';

/** What handles the press of each button, by its action id. */
type ButtonHandlers<Kind> = Readonly<Record<string, (press: Kind) => Promise<ControlOutcome | PressAnswer>>>;

/** Handles buttons whose value is the ts of a message. */
export function registerMessageButtonListeners(
  context: ListenerContext,
  handlers: ButtonHandlers<MessagePress>,
): void {
  for (const [id, handle] of Object.entries(handlers))
    onPress(
      context,
      id,
      async ({ location, value }) => location && handle({ ...location, messageTs: value }),
      'when_recorded',
    );
}

/** Handles the buttons below our messages. */
export function registerControlButtonListeners(
  context: ListenerContext,
  handlers: ButtonHandlers<Press>,
): void {
  for (const [id, handle] of Object.entries(handlers))
    onPress(
      context,
      id,
      async ({ location, messageTs, message, turnId, ts }) =>
        location && turnId !== undefined
          ? handle({ ...location, messageTs, message, turnId, ts })
          : undefined,
      'when_recorded',
    );
}

/** Handles the button for fresh links. It changes nothing, so each press is acknowledged at once. */
export function registerFreshLinksListener(
  context: ListenerContext,
  showLinks: (press: FreshLinksPress) => Promise<ModalOutcome>,
): void {
  onPress(context, 'fresh_links', async ({ location, turnId, triggerId }) =>
    location && turnId !== undefined ? showLinks({ ...location, turnId, triggerId }) : undefined,
  );
}

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

/** The buttons that show steps: below a reply, and within the modal. */
const STEPS_ACTION_IDS = /^steps(?:_page|_next_page)?$/;

/** Handles the buttons that show steps. They change nothing, so each press is acknowledged at once. */
export function registerStepsListener(
  context: ListenerContext,
  showSteps: (press: StepsPress) => Promise<ModalOutcome>,
): void {
  onPress(context, STEPS_ACTION_IDS, async ({ actor, location, view, triggerId, turnId, value }) => {
    const target = turnId === undefined ? parseStepsPage(value) : { turnId, page: 0 };
    // In a message or in the modal itself; neither means that the press is not for us.
    if (target === undefined || (location === undefined && view === undefined)) return undefined;
    const modal = view === undefined ? { triggerId } : { viewId: view.id };
    return showSteps({ ...actor, channel: location?.channel, ...target, modal });
  });
}
