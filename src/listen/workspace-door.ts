import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { WorkspaceDoor } from '../relay/admitting/workspace-door.ts';
import { doorIds } from '../reply/views/door-view.ts';
import { behindAnswer } from './press.ts';
import { readVisitorForm, readVisitorPress } from './visitors.ts';

const admits = z.enum(['usual', 'members', 'guests', 'everyone']);

const stateShape = z.looseObject({
  values: z.looseObject({
    door_admits: z.looseObject({
      door_admits: z.looseObject({ selected_option: z.looseObject({ value: admits }) }),
    }),
    door_bots: z.looseObject({ door_bots: z.looseObject({ value: z.string().nullish() }) }),
  }),
});

/** Takes the press and the form by which admins set who may use the agent in their workspace. */
export function listenToWorkspaceDoor(app: App, door: WorkspaceDoor, log: Logger): void {
  app.action(doorIds.change, async ({ ack, body }) => {
    await ack();
    const press = readVisitorPress(body);
    if (press === undefined) return;
    behindAnswer(door.open(press.visitor, press.triggerId), log, 'a form could not be shown');
  });

  app.view({ type: 'view_submission', callback_id: doorIds.form }, async ({ ack, body }) => {
    const form = readVisitorForm(body);
    const values = stateShape.safeParse(form?.state).data?.values;
    if (form === undefined || values === undefined) {
      log.warn('a form with settings of a workspace is none of ours, or has changed');
      await ack();
      return;
    }
    const chosen = values.door_admits.door_admits.selected_option.value;
    const errors = {
      ...(await door.save(form.visitor, {
        admits: chosen === 'usual' ? null : chosen,
        bots: values.door_bots.door_bots.value ?? '',
      })),
    };
    if (Object.keys(errors).length === 0) await ack();
    else await ack({ response_action: 'errors', errors });
  });
}
