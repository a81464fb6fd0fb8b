import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  WORKSPACE_ACCESS_ACTION_IDS,
  type WorkspaceAccessSettings,
} from '../features/workspace-settings/workspace-access-settings.ts';
import * as strings from '../render/strings/index.ts';
import { onForm, onPress, savedOrErrors } from './press.ts';

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

  onPress(app, change, log, async ({ actor, triggerId }) => {
    await accessSettings.open(actor, triggerId);
  });
  onForm(app, callbackId, formValues, log, async ({ actor, values }) => {
    const chosen = values.door_admits.door_admits.selected_option.value;
    const admits = chosen === 'usual' ? null : chosen;
    const bots = values.door_bots.door_bots.value ?? '';
    return savedOrErrors(await accessSettings.save(actor, { admits, bots }), strings.workspaceAccess.title);
  });
}
