import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { flag, nextPageSchema, optional, text } from './field-schemas.ts';
import type { Installation } from './slack-client.ts';
import { isSlackItself } from './slack-message.ts';

/** A person's relation to this workspace. `unknown` if Slack does not say: an unknown person has no access. */
export type PersonKind = 'member' | 'guest' | 'stranger' | 'bot' | 'deactivated' | 'unknown';

export interface Person {
  id: string;
  /** The name that people see; the id if Slack does not say. */
  name: string;
  kind: PersonKind;
  /** Slack says that it is a human, of whatever kind; false if Slack does not say. */
  isHuman: boolean;
  /** An admin or owner of this workspace; false if Slack does not say. */
  isAdmin: boolean;
}

/** What takes access away, in whatever form. */
const denyingFlag = z.boolean().nullish().catch(true);

const userSchema = z.looseObject({
  id: z.string(),
  team_id: text,
  name: text,
  real_name: text,
  deleted: denyingFlag,
  is_bot: denyingFlag,
  is_workflow_bot: denyingFlag,
  is_connector_bot: denyingFlag,
  is_restricted: denyingFlag,
  is_ultra_restricted: denyingFlag,
  is_admin: flag,
  is_owner: flag,
  is_stranger: denyingFlag,
  profile: optional(z.looseObject({ display_name: text, real_name: text })),
  enterprise_user: optional(z.looseObject({ teams: optional(listOf(z.string())) })),
});
type SlackUser = z.infer<typeof userSchema>;
export const userResponseSchema = z.looseObject({ user: userSchema });
export const usersResponseSchema = z.looseObject({
  members: listOf(userSchema),
  response_metadata: nextPageSchema,
});

/** Who can neither be a guest nor belong to another organisation. */
export const INSIDER_KINDS: ReadonlySet<PersonKind> = new Set(['member', 'bot', 'deactivated']);

/** What Slack's record says of a person. */
export function personOf(user: SlackUser, installation: Installation): Person {
  const kind = kindOf(user, installation);
  const isAdmin = kind === 'member' && (user.is_admin === true || user.is_owner === true);
  const isBot = user.is_bot !== false || user.is_workflow_bot === true || user.is_connector_bot === true;
  const isHuman = !isBot && !['bot', 'deactivated', 'unknown'].includes(kind);
  return { id: user.id, name: displayNameOf(user), kind, isHuman, isAdmin };
}

function kindOf(user: SlackUser, installation: Installation): PersonKind {
  if (user.deleted) return 'deactivated';
  if (user.is_bot || isSlackItself(user.id)) return 'bot';
  if (!user.team_id) return 'unknown';
  if (user.is_stranger || !isFromThisWorkspace(user, installation)) return 'stranger';
  if (user.is_restricted || user.is_ultra_restricted) return 'guest';
  // Only a record that says so belongs to a full member.
  return user.is_restricted === false && user.is_ultra_restricted === false ? 'member' : 'unknown';
}

/** In an organisation, people may be at home in another workspace than the one they write in. */
function isFromThisWorkspace(user: SlackUser, { workspace }: Installation): boolean {
  return user.team_id === workspace || user.enterprise_user?.teams?.includes(workspace) === true;
}

function displayNameOf(user: SlackUser): string {
  return user.profile?.display_name || user.profile?.real_name || user.real_name || user.name || user.id;
}

/** Somebody of whom Slack says nothing. */
export function unknownPerson(id: string): Person {
  return { id, name: id, kind: 'unknown', isHuman: false, isAdmin: false };
}
