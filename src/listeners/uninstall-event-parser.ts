import { z } from 'zod';
import type { UninstallEvent } from '../relay/installations/uninstall-events.ts';
import { listOf, optional } from '../slack/field-schemas.ts';

const ids = listOf(z.string());

/** The fields that are read of an event about an installation. */
export const uninstallEventSchema = z.looseObject({
  type: z.literal('event_callback'),
  team_id: optional(z.string()),
  enterprise_id: optional(z.string()),
  context_enterprise_id: optional(z.string()),
  /** Seconds since 1970. */
  event_time: optional(z.number()),
  authorizations: optional(
    listOf(
      z.looseObject({
        enterprise_id: optional(z.string()),
        is_enterprise_install: optional(z.boolean()),
      }),
    ),
  ),
  event: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('app_uninstalled') }),
    z.looseObject({
      type: z.literal('tokens_revoked'),
      tokens: z.looseObject({ bot: optional(ids) }),
    }),
    z.looseObject({ type: z.literal('team_access_revoked'), team_ids: ids }),
    z.looseObject({ type: z.literal('team_access_granted'), team_ids: ids }),
  ]),
});

/** Reads an event about the end of an installation, or the workspaces that it covers; undefined for anything else. */
export function parseUninstallEvent(body: unknown, now: () => number = Date.now): UninstallEvent | undefined {
  const parsed = uninstallEventSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { event, authorizations, team_id: team, event_time: seconds } = parsed.data;
  const [authorization] = authorizations ?? [];
  const organisation =
    parsed.data.enterprise_id ?? authorization?.enterprise_id ?? parsed.data.context_enterprise_id;
  const isOrganisationWide = authorization?.is_enterprise_install === true || team?.startsWith('E') === true;
  const where = {
    workspace: isOrganisationWide ? undefined : team,
    organisation: organisation ?? (team?.startsWith('E') === true ? team : undefined),
    at: new Date(seconds === undefined ? now() : seconds * 1_000),
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
