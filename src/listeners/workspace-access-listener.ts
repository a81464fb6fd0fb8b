import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  WORKSPACE_ACCESS_ACTION_IDS,
  type WorkspaceAccessSettings,
} from '../features/workspace-settings/workspace-access-settings.ts';
import { parseForm, parsePress, runAfterAck } from './press.ts';

const admitsSchema = z.enum(['usual', 'members', 'guests', 'everyone']);

const formValues = z.looseObject({
  door_admits: z.looseObject({
    door_admits: z.looseObject({ selected_option: z.looseObject({ value: admitsSchema }) }),
  }),
  door_bots: z.looseObject({ door_bots: z.looseObject({ value: z.string().nullish() }) }),
});

/** Handles the button and the form with which admins set who may use the agent in their workspace. */
export function registerWorkspaceAccessListeners(
  app: App,
  accessSettings: WorkspaceAccessSettings,
  log: Logger,
): void {
  const { change, form: callbackId } = WORKSPACE_ACCESS_ACTION_IDS;

  app.action(change, async ({ ack, body }) => {
    await ack();
    const press = parsePress(body);
    if (press === undefined) return;
    runAfterAck(accessSettings.open(press.actor, press.triggerId), log, 'could not show a form');
  });

  app.view({ type: 'view_submission', callback_id: callbackId }, async ({ ack, body }) => {
    const form = parseForm(body, formValues);
    if (form === undefined) {
      log.warn('ignored a form with workspace settings that cannot be read');
      await ack();
      return;
    }
    const { door_admits, door_bots } = form.values;
    const chosen = door_admits.door_admits.selected_option.value;
    const admits = chosen === 'usual' ? null : chosen;
    const bots = door_bots.door_bots.value ?? '';
    const errors = { ...(await accessSettings.save(form.actor, { admits, bots })) };
    if (Object.keys(errors).length === 0) await ack();
    else await ack({ response_action: 'errors', errors });
  });
}
