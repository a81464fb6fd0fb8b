import type { App, RespondFn, ViewResponseAction } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import type { FormErrors, ModalOutcome } from '../features/modals.ts';
import { shownMessageSchema } from '../relay/controls/continue-and-retry.ts';
import type { ControlOutcome, PressAnswer, WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { EphemeralTarget } from '../relay/runtime/private-messages.ts';
import { noticeModal } from '../render/blocks/modal.ts';
import { type RenderedMessage, sectionBlock } from '../render/blocks/slack-blocks.ts';
import type { ShownMessage } from '../render/messages/button-notes.ts';
import * as strings from '../render/strings/index.ts';
import { optional } from '../slack/field-schemas.ts';
import { StoreError } from '../store/errors.ts';

/** What every listener works with. */
export interface ListenerContext {
  app: App;
  log: Logger;
  /** Sends one person a message that only they see. */
  sendEphemeral: (location: EphemeralTarget, text: string) => Promise<void>;
}

/** A press of a button or a choice from a list. */
export interface ButtonPress {
  actor: WorkspaceActor;
  /** Undefined in a modal or the Home tab. */
  location: EphemeralTarget | undefined;
  /** The message that the button stands below; undefined in a view. */
  messageTs: string | undefined;
  /** What that message shows; undefined if Slack does not say. */
  message: ShownMessage | undefined;
  /** Opens a modal; expires after 3 s. */
  triggerId: string;
  /** When it was pressed, by Slack's clock. */
  ts: string;
  /** '' if it has none. */
  value: string;
  /** The value, if it is the id of a turn. */
  turnId: string | undefined;
  selectedChannel: string | undefined;
  /** The modal or Home tab; undefined in a message. */
  view: { id: string; metadata: string; hash: string | undefined } | undefined;
}

export interface FormSubmission {
  actor: WorkspaceActor;
  viewId: string;
  metadata: string;
  /** What was put into the input of this id, which its block and its element share; undefined if the form had none. */
  input: (id: string) => InputState | undefined;
  /** The block of the first input, where Slack can show an error about the whole form. */
  firstInput: string;
}

/** The input of a form; an empty field is null. */
const inputStateSchema = z.looseObject({
  value: z.string().nullish(),
  selected_option: z.looseObject({ value: z.string() }).nullish(),
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_conversation: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
});
type InputState = z.output<typeof inputStateSchema>;

const text = z.string().catch('');

const formSchema = z.looseObject({
  view: z.looseObject({
    id: z.string(),
    private_metadata: text,
    state: z.looseObject({ values: z.record(z.string(), z.record(z.string(), inputStateSchema)) }),
  }),
});

/** The fields that say who acts. */
export const actorSchema = z.looseObject({
  type: optional(z.string()),
  team: optional(z.looseObject({ id: z.string() })),
  user: z.looseObject({ id: z.string(), team_id: optional(z.string()) }),
  view: optional(z.looseObject({ app_installed_team_id: optional(z.string()) })),
});

/** The fields that say where a button was pressed. */
export const locationSchema = z.looseObject({
  channel: z.looseObject({ id: z.string() }),
  container: optional(
    z.looseObject({
      thread_ts: optional(z.string()),
      message_ts: optional(z.string()),
      is_ephemeral: optional(z.boolean()),
    }),
  ),
});

/** The fields that are read of a press. */
export const pressSchema = z.looseObject({
  trigger_id: z.string(),
  actions: listOf(
    z.looseObject({ action_ts: z.string(), value: text, selected_conversation: optional(z.string()) }),
  ),
  view: optional(z.looseObject({ id: z.string(), private_metadata: text, hash: optional(z.string()) })),
  message: optional(shownMessageSchema),
});

/**
 * Reads who acts, and in which workspace; undefined if Slack does not say. A form belongs to the installation that opened
 * it, as in Bolt: in a shared channel the person may be of another workspace.
 */
export function parseActor(body: unknown): WorkspaceActor | undefined {
  const parsed = actorSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { type, team, user, view } = parsed.data;
  const opener = type?.startsWith('view_') ? view?.app_installed_team_id : undefined;
  // An organisation's id (E…) names no workspace.
  const workspace = [opener, team?.id, user.team_id].find((id) => id?.startsWith('T') === true);
  return workspace !== undefined ? { workspace, person: user.id } : undefined;
}

/** Reads where a button in a message was pressed; undefined in a view. An ephemeral message is no root of a thread. */
export function parsePressLocation(body: unknown): EphemeralTarget | undefined {
  const actor = parseActor(body);
  const parsed = locationSchema.safeParse(body);
  if (actor === undefined || !parsed.success) return undefined;
  const { channel, container } = parsed.data;
  const ownTs = container?.is_ephemeral === true ? undefined : container?.message_ts;
  return { ...actor, channel: channel.id, threadTs: container?.thread_ts ?? ownTs };
}

/** Reads a press; undefined for anything else. */
function parsePress(body: unknown): ButtonPress | undefined {
  const actor = parseActor(body);
  const parsed = pressSchema.safeParse(body);
  const action = parsed.data?.actions[0];
  if (actor === undefined || !parsed.success || action === undefined) return undefined;
  const { trigger_id: triggerId, view, message } = parsed.data;
  const { value } = action;
  return {
    actor,
    location: parsePressLocation(body),
    messageTs: locationSchema.safeParse(body).data?.container?.message_ts,
    message,
    triggerId,
    ts: action.action_ts,
    value,
    turnId: z.uuid().safeParse(value).data,
    selectedChannel: action.selected_conversation,
    view: view ? { id: view.id, metadata: view.private_metadata, hash: view.hash } : undefined,
  };
}

/** Reads a submitted form; undefined for anything else. */
export function parseForm(body: unknown): FormSubmission | undefined {
  const actor = parseActor(body);
  const parsed = formSchema.safeParse(body);
  if (actor === undefined || !parsed.success) return undefined;
  const { id: viewId, private_metadata: metadata, state } = parsed.data.view;
  const [firstInput = ''] = Object.keys(state.values);
  return { actor, viewId, metadata, input: (id) => state.values[id]?.[id], firstInput };
}

/** Lets work continue that the response to Slack must not wait for: over HTTP that is sent when the listener returns. */
export function runAfterAck(work: Promise<unknown>, log: Logger, failureMessage: string): void {
  work.catch((error: unknown) => log.warn({ err: error }, failureMessage));
}

/**
 * Handles presses of buttons, each acknowledged at once, or `when_recorded`. The person is told of an outcome that they do
 * not see; after an error, to press again: by response_url, which needs no database.
 */
export function onPress(
  { app, log, sendEphemeral }: ListenerContext,
  actionId: string | RegExp,
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing.
  handle: (press: ButtonPress) => Promise<ControlOutcome | PressAnswer | ModalOutcome | void>,
  acknowledge: 'at_once' | 'when_recorded' = 'at_once',
): void {
  const actionLog = log.child({ action: String(actionId) });
  app.action(actionId, async ({ ack, body, respond }) => {
    const press = parsePress(body);
    if (press === undefined) {
      actionLog.debug('ignored a press that is not for this app');
      return ack();
    }
    const handled = handle(press);
    const text = strings.command.unavailable;
    const answered = handled
      .then(async (result) => {
        const answer = result ?? 'done';
        if (typeof answer === 'string') return explainOutcome(sendEphemeral, press.location, answer);
        const { outcome, told, replacement } = answer;
        if (replacement !== undefined) await replaceOriginal(respond, replacement, actionLog);
        await explainOutcome(sendEphemeral, press.location, outcome, told);
      })
      .catch(async (error: unknown) => {
        if (press.location !== undefined)
          await respond({ response_type: 'ephemeral', replace_original: false, text });
        throw error;
      });
    runAfterAck(answered, actionLog, 'could not answer a press');
    if (acknowledge === 'when_recorded') await handled.catch(() => undefined);
    await ack();
  });
}

/** Handles a form; `handle` returns what Slack shows then. Without the database, the form asks to try again. */
export function onForm(
  { app, log }: ListenerContext,
  callbackId: string,
  handle: (form: FormSubmission) => Promise<ViewResponseAction | undefined>,
): void {
  app.view(callbackId, async ({ ack, body }) => {
    const form = parseForm(body);
    if (form === undefined) log.warn({ form: callbackId }, 'ignored a form that cannot be read');
    const response =
      form &&
      (await handle(form).catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        log.warn({ err: error, form: callbackId }, 'could not save a form');
        return formErrors({ [form.firstInput]: strings.command.unavailable });
      }));
    await (response === undefined ? ack() : ack(response));
  });
}

/** Shows errors in a form, by block; undefined if there are none. */
export function formErrors(errors: FormErrors): ViewResponseAction | undefined {
  return Object.keys(errors).length === 0 ? undefined : { response_action: 'errors', errors: { ...errors } };
}

/** Shows errors in a form with settings, by block; without any, that it is saved. */
export function savedOrErrors(errors: FormErrors, title: string): ViewResponseAction {
  return formErrors(errors) ?? { response_action: 'update', view: noticeModal(title, strings.settingsSaved) };
}

/** Tells a person what their press did, unless they see it anyway. */
async function explainOutcome(
  sendEphemeral: ListenerContext['sendEphemeral'],
  location: EphemeralTarget | undefined,
  outcome: ControlOutcome | ModalOutcome,
  told?: string,
): Promise<void> {
  if (location === undefined || outcome === 'refused') return;
  const text = told ?? (outcome === 'done' ? undefined : strings.controlFailed[outcome]);
  if (text !== undefined) await sendEphemeral(location, text);
}

/** Replaces the message that has the button; it stays as it is if Slack does not take that. */
async function replaceOriginal(
  respond: RespondFn,
  { text, blocks }: RenderedMessage,
  log: Logger,
): Promise<void> {
  const shown = blocks.length === 0 ? [sectionBlock(text)] : blocks;
  await respond({ replace_original: true, text, blocks: shown }).catch((error: unknown) =>
    log.warn({ err: error }, 'could not replace a message with a button'),
  );
}
