import type { ModalOutcome } from '../features/modals.ts';
import type { FreshLinksPress } from '../features/steps-and-fresh-links.ts';
import type { ControlOutcome, MessagePress, Press, PressAnswer } from '../relay/runtime/control-request.ts';
import { type ListenerContext, onPress } from './press.ts';

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
