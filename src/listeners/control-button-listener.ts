import type { ControlOutcome, MessagePress, Press, PressAnswer } from '../relay/runtime/control-types.ts';
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

/** Handles the buttons below our messages. Fresh links record nothing, and may take longer than Slack waits. */
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
      id === 'fresh_links' ? 'at_once' : 'when_recorded',
    );
}
