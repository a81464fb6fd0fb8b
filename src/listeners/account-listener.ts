import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ACCOUNT_ACTION_IDS, ACCOUNT_FIELDS, accountPendingView } from '../features/account/account-view.ts';
import type { WorkspaceAccount } from '../features/account/workspace-account.ts';
import { onPress, parseForm, runAfterAck } from './press.ts';

const formValues = z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.string().nullish() })));

/** Handles the buttons and the form with which admins set their workspace's service account. */
export function registerAccountListeners(app: App, account: WorkspaceAccount, log: Logger): void {
  onPress(app, ACCOUNT_ACTION_IDS.set, log, async ({ actor, triggerId }) => {
    await account.open(actor, triggerId);
  });
  onPress(app, ACCOUNT_ACTION_IDS.remove, log, async ({ actor }) => {
    await account.remove(actor);
  });

  app.view({ type: 'view_submission', callback_id: ACCOUNT_ACTION_IDS.form }, async ({ ack, body }) => {
    const form = parseForm(body, formValues);
    if (form === undefined) {
      await ack();
      return;
    }
    const input = (id: string) => form.values[id]?.[id]?.value ?? '';
    const credentials = { baseUrl: input(ACCOUNT_FIELDS.address), apiKey: input(ACCOUNT_FIELDS.key) };
    await ack({ response_action: 'update', view: accountPendingView() });
    const work = account.submit(form.actor, form.viewId, credentials);
    runAfterAck(work, log, 'could not set the service account of a workspace');
  });
}
