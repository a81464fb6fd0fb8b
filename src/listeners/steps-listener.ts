import type { ModalOutcome } from '../features/modals.ts';
import { parseStepsPage, type StepsPress } from '../features/steps-and-fresh-links.ts';
import { type ListenerContext, onPress } from './press.ts';

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
