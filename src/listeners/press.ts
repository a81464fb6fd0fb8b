import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { shownMessageSchema } from '../relay/controls/continue-and-retry.ts';
import type { ButtonPress, FormSubmission, WorkspaceActor } from '../relay/runtime/control-request.ts';
import { optional } from '../slack/field-schemas.ts';

const text = z.string().catch('');
const optionSchema = z.looseObject({ value: z.string() });

const formSchema = z.looseObject({
  view: z.looseObject({
    id: z.string(),
    private_metadata: text,
    state: z.looseObject({
      values: z.record(
        z.string(),
        z.record(
          z.string(),
          z.looseObject({
            value: z.string().nullish(),
            selected_option: optionSchema.nullish(),
            selected_options: z.array(optionSchema).nullish(),
            selected_conversation: z.string().nullish(),
            selected_conversations: z.array(z.string()).nullish(),
            files: z.array(z.unknown()).nullish(),
          }),
        ),
      ),
    }),
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
    z.looseObject({
      action_ts: z.string(),
      value: text,
      selected_option: optional(optionSchema),
      selected_conversation: optional(z.string()),
    }),
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

/** Reads a press; undefined for anything else. What only one person sees is no root of a thread. */
export function parsePress(body: unknown): ButtonPress | undefined {
  const actor = parseActor(body);
  const { data } = pressSchema.safeParse(body);
  const action = data?.actions[0];
  if (actor === undefined || data === undefined || action === undefined) return undefined;
  const { channel, container } = locationSchema.safeParse(body).data ?? {};
  const value = action.selected_option?.value ?? action.value;
  const ownTs = container?.is_ephemeral === true ? undefined : container?.message_ts;
  const { view } = data;
  return {
    ...actor,
    channel: channel?.id,
    threadTs: container?.thread_ts ?? ownTs,
    messageTs: container?.message_ts,
    message: data.message,
    triggerId: data.trigger_id,
    ts: action.action_ts,
    value,
    turnId: z.uuid().safeParse(value.split('/').at(-1)).data,
    selectedChannel: action.selected_conversation,
    view: view && { id: view.id, metadata: view.private_metadata, hash: view.hash },
  };
}

/** Reads a submitted form; undefined for anything else. */
export function parseForm(body: unknown): FormSubmission | undefined {
  const actor = parseActor(body);
  const { data } = formSchema.safeParse(body);
  if (actor === undefined || data === undefined) return undefined;
  const { id: viewId, private_metadata: metadata, state } = data.view;
  const [firstInput = ''] = Object.keys(state.values);
  return { ...actor, viewId, metadata, input: (id) => state.values[id]?.[id], firstInput };
}
