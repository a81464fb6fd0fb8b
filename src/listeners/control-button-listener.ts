import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import type { ControlOutcome, MessagePress, Press } from '../relay/runtime/control-types.ts';
import { askToTryAgain, explainOutcome, parsePress, runAfterAck, type SendEphemeral } from './press.ts';

/** Handles each button of ours, by its action id. */
export type ControlButtonHandlers = Readonly<
  Record<
    'stop' | 'continue' | 'retry' | 'go_ahead' | 'stop_here' | 'fresh_links' | 'correct' | 'go' | 'take_back',
    (press: Press) => Promise<ControlOutcome>
  >
>;

/** Handles each button about a message or a thread, by its action id. */
export type MessageButtonHandlers = Readonly<
  Record<
    'send_now' | 'send_reply' | 'keep_listening' | 'stop_listening',
    (press: MessagePress) => Promise<ControlOutcome>
  >
>;

/** Handles buttons whose value is the ts of a message. Each press is recorded before it is acknowledged. */
export function registerMessageButtonListeners(
  app: App,
  handlers: MessageButtonHandlers,
  sendEphemeral: SendEphemeral,
  log: Logger,
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
  app: App,
  handlers: ControlButtonHandlers,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  const actionIds = new RegExp(`^(?:${Object.keys(handlers).join('|')})$`);
  app.action(actionIds, async ({ ack, body, action, respond }) => {
    const id = 'action_id' in action ? action.action_id : '';
    const { location, turnId, ts } = parsePress(body) ?? {};
    if (!isControlButton(id, handlers) || !location || turnId === undefined || ts === undefined) {
      log.debug({ action: id }, 'ignored a press that is not for this app');
      await ack();
      return;
    }
    const work = handlers[id]({ ...location, turnId, ts });
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

function isControlButton(id: string, handlers: ControlButtonHandlers): id is keyof ControlButtonHandlers {
  return Object.hasOwn(handlers, id);
}
