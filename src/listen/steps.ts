import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { StepsModal, StepsPress } from '../relay/controls/steps-modal.ts';
import { readStepsPage } from '../reply/steps-view.ts';
import * as words from '../reply/words.ts';
import { behindAnswer, type PressPlace, readActor, readPlace, type Telling } from './press.ts';

/** Who shows the steps. */
export type StepsListener = Pick<StepsModal, 'show'>;

/** The buttons that show steps: below a reply, and within the modal. */
const STEPS_ACTION = /^steps(?:_page|_next_page)?$/;

const pressShape = z.looseObject({
  trigger_id: z.string(),
  container: z.looseObject({ view_id: z.string().optional() }).optional(),
  actions: z.array(z.looseObject({ value: z.string() })).min(1),
});

/** A press, and where to tell of it what cannot be shown. */
interface PlacedSteps {
  press: StepsPress;
  place: PressPlace | undefined;
}

/** Takes the presses that show steps; they change nothing, so each is acknowledged at once. */
export function listenToSteps(app: App, listener: StepsListener, tell: Telling, log: Logger): void {
  app.action(STEPS_ACTION, async ({ ack, body }) => {
    const read = readPress(body);
    await ack();
    if (read === undefined) {
      log.debug('a press for steps that is not ours is passed over');
      return;
    }
    behindAnswer(show(read), log, 'steps could not be shown');
  });

  async function show({ press, place }: PlacedSteps): Promise<void> {
    const outcome = await listener.show(press);
    if (outcome !== 'done' && place !== undefined) await tell(place, words.controlOver[outcome]);
  }
}

function readPress(body: unknown): PlacedSteps | undefined {
  const actor = readActor(body);
  const parsed = pressShape.safeParse(body);
  if (actor === undefined || !parsed.success) return undefined;
  const { container, actions, trigger_id: triggerId } = parsed.data;
  const value = actions[0]?.value ?? '';
  const target =
    readStepsPage(value) ?? (z.uuid().safeParse(value).success ? { turnId: value, page: 0 } : undefined);
  if (target === undefined) return undefined;
  const viewId = container?.view_id;
  const modal = viewId === undefined ? { triggerId } : { viewId };
  const place = readPlace(body);
  // A press without a place is one in the modal itself.
  if (place === undefined && viewId === undefined) return undefined;
  return { press: { ...actor, channel: place?.channel, ...target, modal }, place };
}
