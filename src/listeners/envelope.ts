import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { shownMessageSchema } from '../relay/controls/used-button-note.ts';
import type { InstallationQuery } from '../relay/installations/installed-workspaces.ts';
import type { OrganisationUse } from '../relay/installations/shared-channels.ts';
import type { UninstallEvent } from '../relay/installations/uninstall-events.ts';
import {
  type ButtonPress,
  type FormSubmission,
  inputStateSchema,
  type WorkspaceActor,
} from '../relay/runtime/control-request.ts';
import { optional, slackId, slackTs } from '../slack/field-schemas.ts';
import { parseViewMetadata } from '../slack/views.ts';

/** The fields that are read of an event's envelope. */
export const envelopeSchema = z.looseObject({
  type: z.literal('event_callback'),
  team_id: optional(z.string()),
  context_team_id: optional(z.string()),
  context_enterprise_id: optional(z.string()),
  event_id: optional(z.string()),
  is_ext_shared_channel: optional(z.boolean()),
  authorizations: optional(
    listOf(
      z.looseObject({
        team_id: optional(z.string()),
        // Null means that it belongs to no organisation.
        enterprise_id: z.string().nullish().catch(undefined),
        is_enterprise_install: optional(z.boolean()),
      }),
    ),
  ),
  event: z.looseObject({ type: z.string() }),
});

/** An event of the Events API, and the installation that it is for. */
export interface Envelope {
  /**
   * The workspace. If Slack names only an organisation, this is the event's own team, which may belong to another
   * organisation (Slack Connect): the registry asks Slack whether the organisation's installation reaches it.
   */
  workspace: string;
  /** The organisation (`E…`) if the installation is an organisation's. */
  organisation: string | undefined;
  /** False if Slack says that its channel is not shared with another organisation. */
  isShared: boolean;
  /** The same in each delivery. */
  eventId: string;
  eventType: string;
  event: Record<string, unknown>;
}

/** Whether an event is about a message: a new, edited or deleted one. */
export function isMessageEvent({ eventType }: Envelope): boolean {
  return eventType === 'message' || eventType === 'app_mention';
}

/** Reads an event of the Events API; undefined for anything else. */
export function parseEnvelope(body: unknown): Envelope | undefined {
  const envelope = envelopeSchema.safeParse(body);
  if (!envelope.success) return undefined;
  const { authorizations, context_team_id, team_id, event, event_id: eventId = randomUUID() } = envelope.data;
  const isShared = envelope.data.is_ext_shared_channel !== false;
  const ours = [authorizations?.[0]?.team_id, context_team_id].filter((id) => id !== undefined);
  const { isOrganisationWide, organisation } = findInstallation(envelope.data, ours);
  // Without the organisation's id, Slack cannot be asked whether the event's own team is one of its workspaces.
  const own =
    isOrganisationWide && organisation === undefined && !isOrganisationId(team_id) ? undefined : team_id;
  const named = [...ours, ...(own === undefined ? [] : [own])];
  // If Slack names the whole organisation, the next id names the workspace.
  const workspace = named.find((id) => !isOrganisationId(id)) ?? named[0];
  return workspace === undefined
    ? undefined
    : { workspace, organisation, isShared, eventId, eventType: event.type, event };
}

/** Whose installation an event is for. The event's own organisation may be the other side of a shared channel. */
function findInstallation(
  { authorizations, context_enterprise_id }: z.output<typeof envelopeSchema>,
  ours: readonly string[],
): { isOrganisationWide: boolean; organisation: string | undefined } {
  const authorization = authorizations?.[0];
  const named = ours.find(isOrganisationId);
  const isOrganisationWide = authorization?.is_enterprise_install ?? named !== undefined;
  if (!isOrganisationWide) return { isOrganisationWide, organisation: undefined };
  const organisation =
    authorization?.enterprise_id === undefined ? context_enterprise_id : authorization.enterprise_id;
  return { isOrganisationWide, organisation: organisation ?? named };
}

function isOrganisationId(id: string | undefined): boolean {
  return id?.startsWith('E') === true;
}

const installationSchema = z.looseObject({
  // A slash command is a form, whose values are all text.
  is_enterprise_install: optional(z.union([z.boolean(), z.string().transform((text) => text === 'true')])),
  team_id: optional(z.string()),
  enterprise_id: optional(z.string()),
  enterprise: optional(z.looseObject({ id: z.string() })),
});

/** Reads which installation a request of Slack's is for: an event, a press, a form or a command; undefined if unclear. */
export function parseInstallationQuery(body: unknown): InstallationQuery | undefined {
  const envelope = parseEnvelope(body);
  if (envelope !== undefined) return envelope;
  const parsed = installationSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { is_enterprise_install, team_id, enterprise_id, enterprise } = parsed.data;
  const workspace = parseActor(body)?.workspace ?? team_id;
  if (workspace === undefined) return undefined;
  if (is_enterprise_install !== true) return { workspace, organisation: undefined };
  const organisation = enterprise?.id ?? enterprise_id;
  // Without the organisation's id the installation is unclear: the person may belong to another organisation.
  return organisation === undefined ? undefined : { workspace, organisation };
}

const ids = listOf(z.string());

/** The fields that are read of an event about an installation. */
export const uninstallEventSchema = envelopeSchema.extend({
  enterprise_id: optional(z.string()),
  /** Seconds since 1970. */
  event_time: optional(z.number()),
  event: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('app_uninstalled') }),
    z.looseObject({ type: z.literal('tokens_revoked'), tokens: z.looseObject({ bot: optional(ids) }) }),
    z.looseObject({ type: z.literal(['team_access_revoked', 'team_access_granted']), team_ids: ids }),
  ]),
});

/** Reads an event about the end of an installation, or the workspaces that it covers; undefined for anything else. */
export function parseUninstallEvent(body: unknown): UninstallEvent | undefined {
  const parsed = uninstallEventSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { event, authorizations, team_id: team, event_time: seconds } = parsed.data;
  const [authorization] = authorizations ?? [];
  const organisation =
    parsed.data.enterprise_id ?? authorization?.enterprise_id ?? parsed.data.context_enterprise_id;
  const isOrganisationWide = authorization?.is_enterprise_install === true || isOrganisationId(team);
  const where = {
    workspace: isOrganisationWide ? undefined : team,
    organisation: organisation ?? (isOrganisationId(team) ? team : undefined),
    at: new Date(seconds === undefined ? Date.now() : seconds * 1_000),
  };
  switch (event.type) {
    case 'app_uninstalled':
      return { ...where, kind: 'uninstalled' };
    case 'tokens_revoked':
      // People's tokens are none of ours.
      return (event.tokens.bot ?? []).length === 0 ? undefined : { ...where, kind: 'revoked' };
    case 'team_access_revoked':
      return { ...where, kind: 'access_revoked', from: event.team_ids };
    case 'team_access_granted':
      return { ...where, kind: 'access_granted', to: event.team_ids };
  }
}

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
  team: optional(z.looseObject({ id: z.string() })),
  user: z.looseObject({ id: z.string(), team_id: optional(z.string()) }),
  is_enterprise_install: optional(z.boolean()),
  view: optional(z.looseObject({ app_installed_team_id: optional(z.string()), private_metadata: text })),
});

/** The fields that are read of a press. */
export const pressSchema = z.looseObject({
  trigger_id: z.string(),
  actions: listOf(
    z.looseObject({
      action_ts: z.string(),
      value: text,
      selected_option: optional(z.looseObject({ value: z.string() })),
      selected_conversation: optional(z.string()),
    }),
  ),
  channel: optional(z.looseObject({ id: z.string() })),
  container: optional(
    z.looseObject({
      thread_ts: optional(z.string()),
      message_ts: optional(z.string()),
      is_ephemeral: optional(z.boolean()),
    }),
  ),
  view: optional(z.looseObject({ id: z.string(), private_metadata: text, hash: optional(z.string()) })),
  message: optional(shownMessageSchema),
});

const requesterSchema = z.looseObject({
  user_id: optional(z.string()),
  user: optional(z.looseObject({ id: z.string() })),
  event: optional(z.looseObject({ user: optional(z.string()) })),
});

/** The id of the person whose doing a request of Slack's tells; undefined if it does not say. */
export function parseRequester(body: unknown): string | undefined {
  const { data } = requesterSchema.safeParse(body);
  return data?.user_id ?? data?.user?.id ?? data?.event?.user;
}

/**
 * Reads who acts, and in which workspace; undefined if Slack does not say. A view belongs to the installation that opened
 * it: in a shared channel the person may be of another workspace.
 */
export function parseActor(body: unknown): WorkspaceActor | undefined {
  const parsed = actorSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { team, user, view, is_enterprise_install: isOrganisationWide } = parsed.data;
  const shown = isOrganisationWide === true ? parseViewMetadata(view?.private_metadata ?? '') : undefined;
  const named = [shown?.workspace, view?.app_installed_team_id, team?.id, user.team_id];
  // An organisation's id (E…) names no workspace.
  const workspace = named.find((id) => id?.startsWith('T') === true);
  return workspace !== undefined ? { workspace, person: user.id } : undefined;
}

const organisationUseSchema = z.looseObject({
  is_enterprise_install: z.literal(true),
  team: z.null().optional(),
  enterprise: z.looseObject({ id: z.string() }),
  user: z.looseObject({ team_id: optional(z.string()) }),
  channel: z.looseObject({ id: slackId }),
  message: z.looseObject({ ts: slackTs, thread_ts: optional(slackTs) }).optional(),
  container: optional(z.looseObject({ message_ts: slackTs, thread_ts: optional(slackTs) })),
});

/** Reads a press or a shortcut in a channel, for an organisation's installation; undefined for anything else. */
export function parseOrganisationUse(body: unknown): OrganisationUse | undefined {
  const { data } = organisationUseSchema.safeParse(body);
  const { message, container } = data ?? {};
  const thread_ts = container?.thread_ts ?? message?.thread_ts ?? container?.message_ts ?? message?.ts;
  if (data === undefined || thread_ts === undefined) return undefined;
  const { enterprise, user, channel } = data;
  return { organisation: enterprise.id, workspace: user.team_id ?? '', channel: channel.id, thread_ts };
}

/** Reads a press; undefined for anything else. What only one person sees is no root of a thread. */
export function parsePress(body: unknown): ButtonPress | undefined {
  const actor = parseActor(body);
  const { data } = pressSchema.safeParse(body);
  const action = data?.actions[0];
  if (actor === undefined || data === undefined || action === undefined) return undefined;
  const { channel, container, view, message } = data;
  const value = action.selected_option?.value ?? action.value;
  const isPrivate = container?.is_ephemeral === true;
  return {
    ...actor,
    channel: channel?.id,
    threadTs: container?.thread_ts ?? (isPrivate ? undefined : container?.message_ts),
    messageTs: container?.message_ts,
    isPrivate,
    message,
    triggerId: data.trigger_id,
    ts: action.action_ts,
    value,
    turnId: z.uuid().safeParse(value.split('/').at(-1)).data,
    selectedChannel: action.selected_conversation,
    view: view && { id: view.id, ...parseViewMetadata(view.private_metadata), hash: view.hash },
  };
}

/** Reads a submitted form; undefined for anything else. */
export function parseForm(body: unknown): FormSubmission | undefined {
  const actor = parseActor(body);
  const { data } = formSchema.safeParse(body);
  if (actor === undefined || data === undefined) return undefined;
  const { id: viewId, private_metadata, state } = data.view;
  const { metadata } = parseViewMetadata(private_metadata);
  const [firstInput = ''] = Object.keys(state.values);
  return { ...actor, viewId, metadata, input: (id) => state.values[id]?.[id], firstInput };
}
