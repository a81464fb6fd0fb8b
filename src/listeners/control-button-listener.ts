import type { ControlOutcome, MessagePress, Press } from '../relay/runtime/control-types.ts';
import { type ListenerContext, onPress } from './press.ts';

type ControlButton =
  | 'stop'
  | 'continue'
  | 'retry'
  | 'go_ahead'
  | 'stop_here'
  | 'fresh_links'
  | 'correct'
  | 'go'
  | 'take_back';
type MessageButton = 'send_now' | 'send_reply' | 'keep_listening' | 'stop_listening';

/** By the action ids of our buttons. */
export type ControlButtonHandlers = Readonly<
  Record<ControlButton, (press: Press) => Promise<ControlOutcome>>
>;

/** The same for buttons about a message or a thread. */
export type MessageButtonHandlers = Readonly<
  Record<MessageButton, (press: MessagePress) => Promise<ControlOutcome>>
>;

/** Handles buttons whose value is the ts of a message. */
export function registerMessageButtonListeners(
  context: ListenerContext,
  handlers: MessageButtonHandlers,
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
  handlers: ControlButtonHandlers,
): void {
  for (const [id, handle] of Object.entries(handlers))
    onPress(
      context,
      id,
      async ({ location, turnId, ts }) =>
        location && turnId !== undefined ? handle({ ...location, turnId, ts }) : undefined,
      id === 'fresh_links' ? 'at_once' : 'when_recorded',
    );
}
