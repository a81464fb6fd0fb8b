import { z } from 'zod';
import type { UninstallEvent } from '../relay/installations/uninstall-events.ts';

const idList = z.array(z.string()).nullish();

const uninstallEventSchema = z.looseObject({
  type: z.literal('event_callback'),
  team_id: z.string().nullish(),
  enterprise_id: z.string().nullish(),
  context_enterprise_id: z.string().nullish(),
  /** Seconds since 1970. */
  event_time: z.number().optional(),
  authorizations: z
    .array(
      z.looseObject({ enterprise_id: z.string().nullish(), is_enterprise_install: z.boolean().nullish() }),
    )
    .nullish(),
  event: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('app_uninstalled') }),
    z.looseObject({
      type: z.literal('tokens_revoked'),
      tokens: z.looseObject({ oauth: idList, bot: idList }),
    }),
    z.looseObject({ type: z.literal('team_access_revoked'), team_ids: z.array(z.string()) }),
    z.looseObject({ type: z.literal('team_access_granted'), team_ids: z.array(z.string()) }),
  ]),
});

/** Reads an event about the end or the reach of an installation; undefined for everything else. */
export function parseUninstallEvent(body: unknown, now: () => number = Date.now): UninstallEvent | undefined {
  const parsed = uninstallEventSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { event, authorizations, team_id: team, event_time: seconds } = parsed.data;
  const [authorization] = authorizations ?? [];
  const organisation =
    parsed.data.enterprise_id ?? authorization?.enterprise_id ?? parsed.data.context_enterprise_id;
  const isOrganisationWide = authorization?.is_enterprise_install === true || team?.startsWith('E') === true;
  const where = {
    workspace: isOrganisationWide ? undefined : (team ?? undefined),
    organisation: organisation ?? (team?.startsWith('E') === true ? team : undefined),
    at: new Date(seconds === undefined ? now() : seconds * 1_000),
  };
  switch (event.type) {
    case 'app_uninstalled':
      return { ...where, kind: 'uninstalled' };
    case 'tokens_revoked':
      return { ...where, kind: 'revoked', people: event.tokens.oauth ?? [], bots: event.tokens.bot ?? [] };
    case 'team_access_revoked':
      return { ...where, kind: 'access_revoked', from: event.team_ids };
    case 'team_access_granted':
      return { ...where, kind: 'access_granted', to: event.team_ids };
  }
}
