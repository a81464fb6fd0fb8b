import type { Logger } from 'pino';
import { z } from 'zod';
import type { InstallationQuery } from '../relay/installations/workspace-registry.ts';
import { parseEnvelope } from './event-parser.ts';

/** Who did something with a button, a form or the like. */
export interface Actor {
  workspace: string;
  person: string;
}

/** Where a button was pressed, and by whom. */
export interface PressLocation extends Actor {
  channel: string;
  /** The thread that the button's message stands in. */
  threadTs: string | undefined;
}

/** Tells a person something that only they need to know. */
export type SendEphemeral = (place: PressLocation, sentence: string) => Promise<void>;

const actorSchema = z.looseObject({
  type: z.string().optional(),
  team: z.looseObject({ id: z.string() }).nullish(),
  user: z.looseObject({ id: z.string(), team_id: z.string().optional() }),
  view: z.looseObject({ app_installed_team_id: z.string().nullish() }).nullish(),
});

const pressLocationSchema = z.looseObject({
  channel: z.looseObject({ id: z.string() }),
  container: z
    .looseObject({
      thread_ts: z.string().optional(),
      message_ts: z.string().optional(),
      is_ephemeral: z.boolean().optional(),
    })
    .optional(),
});

/**
 * Reads who acts, and at which installation; undefined where Slack does not say it. A form is sent to the one that opened
 * it, as Bolt has it: with Slack Connect the person may be of another workspace.
 */
export function parseActor(body: unknown): Actor | undefined {
  const parsed = actorSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { type, team, user, view } = parsed.data;
  const opener = type?.startsWith('view_') ? view?.app_installed_team_id : undefined;
  // An organisation's id says nothing of the workspace.
  const workspace = [opener, team?.id, user.team_id].find((id) => id?.startsWith('T') === true);
  return typeof workspace === 'string' ? { workspace, person: user.id } : undefined;
}

const installationSchema = z.looseObject({
  // A command is a form, which has no other types than text.
  is_enterprise_install: z.union([z.boolean(), z.string().transform((said) => said === 'true')]).nullish(),
  team_id: z.string().nullish(),
  enterprise_id: z.string().nullish(),
  enterprise: z.looseObject({ id: z.string() }).nullish(),
});

/**
 * Reads at which installation anything happened that Slack sends: an event, a press, a form or a command. Undefined where
 * Slack does not say it.
 */
export function parseInstallationQuery(body: unknown): InstallationQuery | undefined {
  const envelope = parseEnvelope(body);
  if (envelope !== undefined) return envelope;
  const parsed = installationSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { is_enterprise_install: isOfAll, team_id: team, enterprise_id: named, enterprise } = parsed.data;
  const workspace = parseActor(body)?.workspace ?? team ?? undefined;
  const organisation = enterprise?.id ?? named ?? undefined;
  // Whose installation it is must be known: the person may be of another organisation.
  if (workspace === undefined || (isOfAll === true && organisation === undefined)) return undefined;
  return { workspace, organisation: isOfAll === true ? organisation : undefined };
}

/** Reads the place of a press; undefined for one in a window. A message that only a person sees is no root of a thread. */
export function parsePressLocation(body: unknown): PressLocation | undefined {
  const actor = parseActor(body);
  const parsed = pressLocationSchema.safeParse(body);
  if (actor === undefined || !parsed.success) return undefined;
  const { channel, container } = parsed.data;
  const own = container?.is_ephemeral === true ? undefined : container?.message_ts;
  return { ...actor, channel: channel.id, threadTs: container?.thread_ts ?? own };
}

/** Lets work go on that nothing waits for: over HTTP the answer to Slack goes out when the listener is done. */
export function runAfterAck(work: Promise<unknown>, log: Logger, failureMessage: string): void {
  work.catch((error: unknown) => log.warn({ err: error }, failureMessage));
}
