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

const listensSchema = z.enum(['usual', 'mentions', 'conversation', 'replies']);

const formValues = z.looseObject({
  door_admits: z.looseObject({
    door_admits: z.looseObject({ selected_option: z.looseObject({ value: admitsSchema }) }),
  }),
  door_listens: z.looseObject({
    door_listens: z.looseObject({ selected_option: z.looseObject({ value: listensSchema }) }),
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
    const heard = values.door_listens.door_listens.selected_option.value;
    const listens = heard === 'usual' ? null : heard;
    const bots = values.door_bots.door_bots.value ?? '';
    const errors = await accessSettings.save(actor, { admits, bots, listens });
    return savedOrErrors(errors, strings.workspaceAccess.title);
  });
}
