import type { ControlOutcome, MessagePress, Press } from '../relay/runtime/control-types.ts';
import { askToTryAgain, explainOutcome, type ListenerContext, parsePress, runAfterAck } from './press.ts';

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

/** Handles buttons whose value is the ts of a message. Each press is recorded before it is acknowledged. */
export function registerMessageButtonListeners(
  { app, log, sendEphemeral }: ListenerContext,
  handlers: MessageButtonHandlers,
): void {
  for (const [id, handle] of Object.entries(handlers))
    app.action(id, async ({ ack, body }) => {
      const { location, value: messageTs = '' } = parsePress(body) ?? {};
      const outcome = location && (await handle({ ...location, messageTs }));
      const explained = outcome && explainOutcome(sendEphemeral, location, outcome);
      if (explained !== undefined) runAfterAck(explained, log, 'could not answer a press');
      await ack();
    });
}

/**
 * Handles the buttons below our messages. Each press is recorded before it is acknowledged, except for fresh links:
 * nothing of them is recorded, and the service may take longer than Slack waits.
 */
export function registerControlButtonListeners(
  { app, log, sendEphemeral }: ListenerContext,
  handlers: ControlButtonHandlers,
): void {
  for (const [id, handle] of Object.entries(handlers))
    app.action(id, async ({ ack, body, respond }) => {
      const { location, turnId, ts } = parsePress(body) ?? {};
      if (!location || turnId === undefined || ts === undefined) {
        log.debug({ action: id }, 'ignored a press that is not for this app');
        return ack();
      }
      const work = handle({ ...location, turnId, ts });
      try {
        if (id !== 'fresh_links') await work;
      } catch (error) {
        await ack();
        await askToTryAgain(respond);
        throw error;
      }
      const explained = work.then((outcome) => explainOutcome(sendEphemeral, location, outcome));
      runAfterAck(explained, log, 'could not answer a press');
      await ack();
    });
}
