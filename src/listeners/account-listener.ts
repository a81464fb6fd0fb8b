import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { AccountSection } from '../features/account/account-section.ts';
import { ACCOUNT_ACTION_IDS, ACCOUNT_FIELDS } from '../features/account/account-view.ts';
import { parseHomeActorForm, parseHomeActorPress } from './home-actor.ts';
import { runAfterAck } from './press.ts';

const formValues = z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.string().nullish() })));
const viewStateSchema = z.looseObject({ values: formValues });

/** Takes the presses and the form by which admins set their workspace's account. */
export function registerAccountListeners(app: App, home: AccountSection, log: Logger): void {
  const runInBackground = (work: Promise<unknown>) => runAfterAck(work, log, 'an account could not be shown');

  app.action(ACCOUNT_ACTION_IDS.set, async ({ ack, body }) => {
    await ack();
    const press = parseHomeActorPress(body);
    if (press !== undefined) runInBackground(home.open(press.actor, press.triggerId));
  });

  app.action(ACCOUNT_ACTION_IDS.remove, async ({ ack, body }) => {
    await ack();
    const press = parseHomeActorPress(body);
    if (press !== undefined) runInBackground(home.remove(press.actor));
  });

  app.view({ type: 'view_submission', callback_id: ACCOUNT_ACTION_IDS.form }, async ({ ack, body }) => {
    const form = parseHomeActorForm(body);
    const values = viewStateSchema.safeParse(form?.state).data?.values;
    if (form === undefined || values === undefined) {
      await ack();
      return;
    }
    const credentials = {
      baseUrl: inputValue(values, ACCOUNT_FIELDS.address),
      apiKey: inputValue(values, ACCOUNT_FIELDS.key),
    };
    await ack({ response_action: 'update', view: home.pendingView() });
    runInBackground(home.submit(form.actor, form.viewId, credentials));
  });
}

function inputValue(values: z.output<typeof formValues>, id: string): string {
  return values[id]?.[id]?.value ?? '';
}
