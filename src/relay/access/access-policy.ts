import type { PersonKind, SlackDirectory } from '../../slack/directory.ts';
import type { AuditEntry } from '../../store/audit-trail.ts';
import type { AllowedUsers } from '../../store/schema.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import type { ChannelActor, WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { isBotId, WORKFLOW_STEP } from '../runtime/incoming-message.ts';
import { type ClosedBy, closingUnder, LOOKUP_TIMEOUT_MS } from './where-it-answers.ts';

export type AccessDenial = Exclude<PersonKind, 'member'> | ClosedBy;

/** Who may use the agent in a channel: people up to this kind, these bots and workflows (B…), and WORKFLOW_STEP. */
export interface AccessPolicy {
  admits: AllowedUsers;
  bots: readonly string[];
}

/** Who may use the agent in a channel, by its setting, else the workspace's, else the operator's. */
export async function accessPolicyFor(
  { store, settings }: RelayDeps,
  { workspace, channel }: Pick<ChannelActor, 'workspace' | 'channel'>,
): Promise<AccessPolicy> {
  return policyUnder(await store.settings.inForce(workspace, channel), settings);
}

function policyUnder(set: Settings, settings: RelayDeps['settings']): AccessPolicy {
  const bots = set.allowed_bots ?? settings.admitsBots;
  return {
    admits: set.allowed_users ?? settings.admits,
    bots: set.allow_workflow_steps ? [...bots, WORKFLOW_STEP] : bots,
  };
}

const ALLOWED_KINDS: Record<AllowedUsers, readonly PersonKind[]> = {
  members: ['member'],
  guests: ['member', 'guest'],
  everyone: ['member', 'guest', 'stranger'],
};

/** Whether people of this kind may use the agent. Bots are allowed only one by one. */
export function isKindAllowed(admits: AllowedUsers, kind: PersonKind): boolean {
  return ALLOWED_KINDS[admits].includes(kind);
}

/** Why a writer may not use the agent there; undefined if they may. Throws a SlackError, or the signal's reason. */
export async function accessDenialFor(
  deps: RelayDeps,
  people: Pick<SlackDirectory, 'requirePerson'>,
  asker: ChannelActor,
  signal: AbortSignal,
): Promise<AccessDenial | undefined> {
  const set = await deps.store.settings.inForce(asker.workspace, asker.channel);
  return accessDenialUnder(set, deps, people, asker, signal);
}

/** Like `accessDenialFor`, with what is set there. */
export async function accessDenialUnder(
  set: Settings,
  deps: RelayDeps,
  people: Pick<SlackDirectory, 'requirePerson'>,
  asker: ChannelActor,
  signal: AbortSignal,
): Promise<AccessDenial | undefined> {
  const closing = await closingUnder(set, deps, asker, signal);
  if (closing !== undefined) return closing;
  const { person } = asker;
  const { admits, bots } = policyUnder(set, deps.settings);
  if (isBotId(person)) return bots.includes(person) ? undefined : 'bot';
  const { kind } = await people.requirePerson(person, signal);
  if (kind === 'member') return undefined;
  return isKindAllowed(admits, kind) ? undefined : kind;
}

/** Why a person certainly has no access; undefined also if that is not known within `ms`: it is asked again before a send. */
export async function certainDenialFor(
  deps: RelayDeps,
  people: Pick<SlackDirectory, 'requirePerson'>,
  asker: ChannelActor,
  ms = LOOKUP_TIMEOUT_MS,
): Promise<AccessDenial | undefined> {
  const denial = accessDenialFor(deps, people, asker, AbortSignal.timeout(ms));
  const why = await denial.catch(() => undefined);
  return why === 'unknown' ? undefined : why;
}

/** Whether Slack says now that a person is an admin or owner of the workspace; false if Slack does not say. */
export async function isAdminNow(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
  signal?: AbortSignal,
): Promise<boolean> {
  const people = deps.workspace(workspace)?.people;
  if (people === undefined) return false;
  people.invalidate(person);
  const { kind, isAdmin } = await people.person(person, signal);
  return kind === 'member' && isAdmin;
}

/** Records in the audit trail that a person was refused something. Throws a StoreError. */
export async function recordRefusal(
  { store, log }: Pick<RelayDeps, 'store' | 'log'>,
  use: WorkspaceActor & Pick<AuditEntry, 'channel' | 'thread_ts' | 'turn_id'>,
  details: NonNullable<AuditEntry['details']>,
): Promise<void> {
  const { workspace, channel, thread_ts, turn_id, person } = use;
  const place = { workspace, channel, thread_ts, turn_id };
  await store.audit.add({ ...place, user_id: person, kind: 'refusal', details });
  log.info({ ...place, person, ...details }, 'refused what a person asked for');
}

/** Like `isAdminNow`, for a control: a refusal goes into the audit trail, unless Slack does not say before `signal`. */
export async function isAdminFor(
  deps: Pick<RelayDeps, 'workspace' | 'store' | 'log'>,
  actor: WorkspaceActor,
  control: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (await isAdminNow(deps, actor, signal)) return true;
  if (signal?.aborted !== true) await recordRefusal(deps, actor, { control, by: 'admins', why: 'admins' });
  return false;
}
