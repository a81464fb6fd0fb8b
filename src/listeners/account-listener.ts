import {
  ACCOUNT_ACTION_IDS,
  ACCOUNT_FIELDS,
  accountPendingView,
  type WorkspaceAccount,
} from '../features/workspace-account.ts';
import { type ListenerContext, onPress, parseForm, runAfterAck } from './press.ts';

/** Handles the buttons and the form with which admins set their workspace's service account. */
export function registerAccountListeners(context: ListenerContext, account: WorkspaceAccount): void {
  onPress(context, ACCOUNT_ACTION_IDS.set, ({ actor, triggerId }) => account.open(actor, triggerId));
  onPress(context, ACCOUNT_ACTION_IDS.remove, ({ actor }) => account.remove(actor));

  context.app.view(ACCOUNT_ACTION_IDS.form, async ({ ack, body }) => {
    const form = parseForm(body);
    if (form === undefined) return ack();
    const text = (id: string) => form.input(id)?.value ?? '';
    const credentials = { baseUrl: text(ACCOUNT_FIELDS.address), apiKey: text(ACCOUNT_FIELDS.key) };
    await ack({ response_action: 'update', view: accountPendingView() });
    const work = account.submit(form.actor, form.viewId, credentials);
    runAfterAck(work, context.log, 'could not set the service account of a workspace');
  });
}
