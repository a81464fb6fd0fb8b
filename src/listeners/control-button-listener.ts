import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ButtonActions } from '../relay/controls/button-actions.ts';
import type { ControlOutcome } from '../relay/runtime/control-types.ts';
import * as strings from '../render/strings/index.ts';
import { type PressLocation, parsePressLocation, runAfterAck, type SendEphemeral } from './press.ts';

/** Who carries the controls out. */
export type ControlButtonHandlers = Pick<
  ButtonActions,
  'stop' | 'continue' | 'retry' | 'freshLinks' | 'correct' | 'resume' | 'takeBack'
>;

/** Our buttons, by their action id. */
const CONTROL_BUTTONS = {
  stop: 'stop',
  continue: 'continue',
  retry: 'retry',
  fresh_links: 'freshLinks',
  correct: 'correct',
  go: 'resume',
  take_back: 'takeBack',
} as const;

const CONTROL_BUTTON_IDS = new RegExp(`^(?:${Object.keys(CONTROL_BUTTONS).join('|')})$`);

const actionsSchema = z.looseObject({
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/**
 * Takes the presses of our buttons; each is carried out before it is acknowledged, but for fresh links: nothing of them
 * is kept, and the service may take longer than Slack waits.
 */
export function registerControlButtonListeners(
  app: App,
  handlers: ControlButtonHandlers,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.action(CONTROL_BUTTON_IDS, async ({ ack, body, action }) => {
    const id = 'action_id' in action ? action.action_id : '';
    const press = parsePress(body);
    if (!isControlButton(id) || press === undefined) {
      log.debug({ action: id }, 'a press that is not for us is passed over');
      await ack();
      return;
    }
    if (id === 'fresh_links') {
      background(handlers.freshLinks(press).then((outcome) => tellOutcome(press, outcome)));
      await ack();
      return;
    }
    const outcome = await handlers[CONTROL_BUTTONS[id]](press);
    await ack();
    background(tellOutcome(press, outcome));
  });

  async function tellOutcome(press: PressLocation, outcome: ControlOutcome): Promise<void> {
    if (outcome !== 'done' && outcome !== 'refused')
      await sendEphemeral(press, strings.controlFailed[outcome]);
  }

  function background(work: Promise<void>): void {
    runAfterAck(work, log, 'a press could not be answered');
  }
}

function isControlButton(id: string): id is keyof typeof CONTROL_BUTTONS {
  return Object.hasOwn(CONTROL_BUTTONS, id);
}

function parsePress(body: unknown) {
  const place = parsePressLocation(body);
  const action = actionsSchema.safeParse(body).data?.actions[0];
  return place && action && { ...place, turnId: action.value, ts: action.action_ts };
}
