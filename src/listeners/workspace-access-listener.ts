import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { WorkspaceAccessSettings } from '../features/workspace-settings/workspace-access-settings.ts';
import { WORKSPACE_ACCESS_ACTION_IDS } from '../features/workspace-settings/workspace-access-view.ts';
import { parseHomeActorForm, parseHomeActorPress } from './home-actor.ts';
import { runAfterAck } from './press.ts';

const admitsSchema = z.enum(['usual', 'members', 'guests', 'everyone']);

const viewStateSchema = z.looseObject({
  values: z.looseObject({
    door_admits: z.looseObject({
      door_admits: z.looseObject({ selected_option: z.looseObject({ value: admitsSchema }) }),
    }),
    door_bots: z.looseObject({ door_bots: z.looseObject({ value: z.string().nullish() }) }),
  }),
});

/** Takes the press and the form by which admins set who may use the agent in their workspace. */
export function registerWorkspaceAccessListeners(
  app: App,
  accessSettings: WorkspaceAccessSettings,
  log: Logger,
): void {
  app.action(WORKSPACE_ACCESS_ACTION_IDS.change, async ({ ack, body }) => {
    await ack();
    const press = parseHomeActorPress(body);
    if (press === undefined) return;
    runAfterAck(accessSettings.open(press.actor, press.triggerId), log, 'a form could not be shown');
  });

  app.view(
    { type: 'view_submission', callback_id: WORKSPACE_ACCESS_ACTION_IDS.form },
    async ({ ack, body }) => {
      const form = parseHomeActorForm(body);
      const values = viewStateSchema.safeParse(form?.state).data?.values;
      if (form === undefined || values === undefined) {
        log.warn('a form with settings of a workspace is none of ours, or has changed');
        await ack();
        return;
      }
      const chosen = values.door_admits.door_admits.selected_option.value;
      const errors = {
        ...(await accessSettings.save(form.actor, {
          admits: chosen === 'usual' ? null : chosen,
          bots: values.door_bots.door_bots.value ?? '',
        })),
      };
      if (Object.keys(errors).length === 0) await ack();
      else await ack({ response_action: 'errors', errors });
    },
  );
}
