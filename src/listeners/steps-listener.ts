import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { StepsModal, StepsPress } from '../features/steps/steps-modal.ts';
import { parseStepsPage } from '../features/steps/steps-view.ts';
import * as strings from '../render/strings/index.ts';
import {
  type PressLocation,
  parseActor,
  parsePressLocation,
  runAfterAck,
  type SendEphemeral,
} from './press.ts';

/** Who shows the steps. */
export type StepsHandler = Pick<StepsModal, 'show'>;

/** The buttons that show steps: below a reply, and within the modal. */
const STEPS_ACTION_IDS = /^steps(?:_page|_next_page)?$/;

const pressSchema = z.looseObject({
  trigger_id: z.string(),
  container: z.looseObject({ view_id: z.string().optional() }).optional(),
  actions: z.array(z.looseObject({ value: z.string() })).min(1),
});

/** A press, and where to tell of it what cannot be shown. */
interface LocatedStepsPress {
  press: StepsPress;
  location: PressLocation | undefined;
}

/** Takes the presses that show steps; they change nothing, so each is acknowledged at once. */
export function registerStepsListener(
  app: App,
  handler: StepsHandler,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.action(STEPS_ACTION_IDS, async ({ ack, body }) => {
    const parsed = parsePress(body);
    await ack();
    if (parsed === undefined) {
      log.debug('a press for steps that is not ours is passed over');
      return;
    }
    runAfterAck(show(parsed), log, 'steps could not be shown');
  });

  async function show({ press, location }: LocatedStepsPress): Promise<void> {
    const outcome = await handler.show(press);
    if (outcome !== 'done' && location !== undefined)
      await sendEphemeral(location, strings.controlFailed[outcome]);
  }
}

function parsePress(body: unknown): LocatedStepsPress | undefined {
  const actor = parseActor(body);
  const parsed = pressSchema.safeParse(body);
  if (actor === undefined || !parsed.success) return undefined;
  const { container, actions, trigger_id: triggerId } = parsed.data;
  const value = actions[0]?.value ?? '';
  const target =
    parseStepsPage(value) ?? (z.uuid().safeParse(value).success ? { turnId: value, page: 0 } : undefined);
  if (target === undefined) return undefined;
  const viewId = container?.view_id;
  const modal = viewId === undefined ? { triggerId } : { viewId };
  const place = parsePressLocation(body);
  // A press without a place is one in the modal itself.
  if (place === undefined && viewId === undefined) return undefined;
  return { press: { ...actor, channel: place?.channel, ...target, modal }, location: place };
}
