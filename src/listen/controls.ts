import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ControlOutcome } from '../relay/controls/control.ts';
import type { Controls } from '../relay/controls/controls.ts';
import * as words from '../reply/words.ts';
import { behindAnswer, type PressPlace, readPlace, type Telling } from './press.ts';

/** Who carries the controls out. */
export type ControlListeners = Pick<
  Controls,
  'stop' | 'continue' | 'retry' | 'freshLinks' | 'correct' | 'go' | 'takeBack'
>;

/** Our buttons, by their action id. */
const buttons = {
  stop: 'stop',
  continue: 'continue',
  retry: 'retry',
  fresh_links: 'freshLinks',
  correct: 'correct',
  go: 'go',
  take_back: 'takeBack',
} as const;

const buttonIds = new RegExp(`^(?:${Object.keys(buttons).join('|')})$`);

const actionsShape = z.looseObject({
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/**
 * Takes the presses of our buttons; each is carried out before it is acknowledged, but for fresh links: nothing of them
 * is kept, and the service may take longer than Slack waits.
 */
export function listenToControls(app: App, listeners: ControlListeners, tell: Telling, log: Logger): void {
  app.action(buttonIds, async ({ ack, body, action }) => {
    const id = 'action_id' in action ? action.action_id : '';
    const press = readPress(body);
    if (!isButton(id) || press === undefined) {
      log.debug({ action: id }, 'a press that is not for us is passed over');
      await ack();
      return;
    }
    if (id === 'fresh_links') {
      go(listeners.freshLinks(press).then((outcome) => answer(press, outcome)));
      await ack();
      return;
    }
    const outcome = await listeners[buttons[id]](press);
    await ack();
    go(answer(press, outcome));
  });

  async function answer(press: PressPlace, outcome: ControlOutcome): Promise<void> {
    if (outcome !== 'done' && outcome !== 'refused') await tell(press, words.controlOver[outcome]);
  }

  function go(work: Promise<void>): void {
    behindAnswer(work, log, 'a press could not be answered');
  }
}

function isButton(id: string): id is keyof typeof buttons {
  return Object.hasOwn(buttons, id);
}

function readPress(body: unknown) {
  const place = readPlace(body);
  const action = actionsShape.safeParse(body).data?.actions[0];
  return place && action && { ...place, turnId: action.value, ts: action.action_ts };
}
