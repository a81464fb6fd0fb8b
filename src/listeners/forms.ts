import { CHANNEL_SETTINGS_CALLBACK, type ChannelSettings } from '../features/settings/channel-settings.ts';
import {
  WORKSPACE_SETTINGS_ACTION_IDS,
  type WorkspaceSettings,
} from '../features/settings/workspace-settings.ts';
import type { StartForm } from '../features/start/start-form.ts';
import type { StartFormSubmissions, StartFormValues } from '../features/start/start-form-submission.ts';
import { parseStartFormMetadata, START_CALLBACK } from '../features/start/start-form-view.ts';
import {
  ACCOUNT_ACTION_IDS,
  ACCOUNT_FIELDS,
  accountPendingView,
  type WorkspaceAccount,
} from '../features/workspace-account.ts';
import * as strings from '../render/strings/index.ts';
import {
  type FormSubmission,
  formErrors,
  type ListenerContext,
  onForm,
  onPress,
  parseForm,
  runAfterAck,
  savedOrErrors,
} from './press.ts';

/** Handles the form that starts tasks, and the buttons that open it again for an earlier question. */
export function registerStartFormListeners(
  context: ListenerContext,
  formHandler: StartFormSubmissions,
  startModal: StartForm,
): void {
  onForm(context, START_CALLBACK, async (form) => {
    const metadata = parseStartFormMetadata(form.metadata);
    if (metadata === undefined) return undefined;
    const { actor, viewId, firstInput } = form;
    const submission = { ...metadata, ...actor, viewId, values: startFormValues(form) };
    const answer = await formHandler.submit(submission);
    if (typeof answer === 'string') return formErrors({ [firstInput]: answer });
    return answer && { response_action: 'update', view: answer };
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    onPress(context, id, async ({ actor, location, turnId, triggerId, ts, messageTs: reply }) => {
      if (location === undefined || turnId === undefined) return undefined;
      const question = { turnId, channel: location.channel, ts, where, reply };
      return startModal.openAgain({ ...actor, triggerId }, question);
    });
  }
}

function startFormValues({ input }: FormSubmission): StartFormValues {
  const question = input('question');
  const model = input('model')?.selected_option?.value;
  const mode = input('mode')?.selected_option?.value;
  return {
    channel: input('channel')?.selected_conversation ?? undefined,
    question: question === undefined ? undefined : (question.value ?? ''),
    title: input('title')?.value ?? undefined,
    model: model === 'usual' ? undefined : model,
    skill: input('used_skill')?.selected_option?.value ?? input('skill')?.value ?? undefined,
    noFallback: (input('fallback')?.selected_options ?? []).length > 0,
    mode: mode === 'auto' || mode === 'plan' ? mode : undefined,
    files: input('files')?.files ?? [],
  };
}

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

/** Handles forms with settings: each is saved before it is acknowledged, or shows its errors. */
export function registerSettingsListeners(
  context: ListenerContext,
  ofChannel: ChannelSettings,
  ofWorkspace: WorkspaceSettings,
): void {
  const { change, form } = WORKSPACE_SETTINGS_ACTION_IDS;
  onPress(context, change, ({ actor, triggerId }) => ofWorkspace.open(actor, triggerId));
  onForm(context, form, async ({ actor, metadata, input }) =>
    savedOrErrors(await ofWorkspace.save({ ...actor, metadata, input }), strings.workspaceSettings.title),
  );
  onForm(context, CHANNEL_SETTINGS_CALLBACK, async ({ actor, metadata, input }) =>
    savedOrErrors(await ofChannel.save({ ...actor, metadata, input }), strings.channelSettings.title),
  );
}
