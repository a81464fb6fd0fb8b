import { unlessAborted, valueIf } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { PersonKind } from '../../slack/directory.ts';
import { SlackError } from '../../slack/errors.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { ChannelActor, WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { accessPolicyFor, type ClosedBy, closingAt, isKindAllowed, recordRefusal } from './access-policy.ts';

/** What a use needs. */
export interface Need {
  /**
   * Anybody whom Slack shows what is said where they are, somebody who may use the agent there, a full member
   * of the workspace, or an admin.
   */
  who: 'reader' | 'user' | 'member' | 'admin';
  /**
   * Where they are: `listed` among the channel's members; `acting` there, as Slack has just said, which counts if it lists
   * none; `reading` what they began there, which it counts as if it lists none of a channel that they can read; `anywhere`.
   */
  place: 'listed' | 'acting' | 'reading' | 'anywhere';
}

/** Why somebody lacks a right. `unknown`: Slack does not say in time; `hidden`: it does not list the channel's members. */
export type LackingRight = Exclude<PersonKind, 'member'> | 'admins' | 'outsider' | 'hidden';

type RightDeps = Pick<RelayDeps, 'workspace' | 'store' | 'settings'>;

/**
 * Why a person may not do what needs this, as Slack says at this moment; undefined if they may. The only way to a right:
 * nothing that was known before counts, and if Slack does not answer before `signal`, nobody has it. Throws a StoreError.
 */
export async function lackingRight(
  deps: RightDeps,
  actor: ChannelActor,
  need: Need,
  signal?: AbortSignal,
): Promise<LackingRight | undefined> {
  return unknownIfSilent(lackingRightNow(deps, actor, need, signal), signal);
}

/** What was asked; `unknown` if Slack does not say before `signal`. */
async function unknownIfSilent<T>(
  asked: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | 'unknown'> {
  const isSilent = (error: unknown) => error instanceof SlackError || signal?.aborted === true;
  return asked.catch(valueIf('unknown', isSilent));
}

/** Like `lackingRight`, but throws a SlackError, or the signal's reason, if Slack does not answer. */
async function lackingRightNow(
  deps: RightDeps,
  actor: ChannelActor,
  { who, place }: Need,
  signal?: AbortSignal,
): Promise<LackingRight | undefined> {
  const slack = deps.workspace(actor.workspace);
  if (slack === undefined) return 'unknown';
  const [{ kind, isAdmin }, lackingPlace] = await Promise.all([
    slack.people.personNow(actor.person, signal),
    unlessAborted(placeNow(slack, actor, place), signal),
  ]);
  if (kind !== 'member') {
    if (who === 'member' || who === 'admin') return kind;
    const allowed = who === 'reader' ? 'everyone' : (await accessPolicyFor(deps, actor)).allowedUsers;
    if (!isKindAllowed(allowed, kind)) return kind;
  }
  if (who === 'admin' && !isAdmin) return 'admins';
  if (lackingPlace !== 'hidden' || place !== 'reading') return lackingPlace;
  // Nobody leaves group messages, and full members read public channels; too large ones are not listed.
  const channel = await slack.people.channelNow(actor.channel, signal);
  const isRead = channel.kind === 'group_dm' || (channel.kind === 'public' && kind === 'member');
  return isRead ? undefined : 'hidden';
}

/** Where a person must be to see a task: whoever began it reads it as long as they can read its channel. */
export function taskPlace({ started_by }: { started_by: string | null }, person: string): Need['place'] {
  return started_by === person ? 'reading' : 'listed';
}

async function placeNow(
  { posting, membership }: WorkspaceClient,
  { channel, person }: ChannelActor,
  place: Need['place'],
): Promise<'outsider' | 'hidden' | undefined> {
  if (place === 'anywhere' || channel === WHOLE_WORKSPACE) return undefined;
  // With our scopes Slack does not list the members of a direct conversation.
  if (isDirectChannel(channel)) return (await posting.openDm(person)) === channel ? undefined : 'outsider';
  const status = await membership.statusOf(channel, person);
  if (status === 'unknown') return place === 'acting' ? undefined : 'hidden';
  return status === 'member' ? undefined : status;
}

/** Why a person may not use the agent in a channel now: the place is closed, or they lack the right. Throws a StoreError. */
export async function useDenial(
  deps: RightDeps,
  asker: ChannelActor,
  place: Need['place'],
  signal: AbortSignal,
): Promise<ClosedBy | LackingRight | undefined> {
  const closing = await unknownIfSilent(closingAt(deps, asker, signal), signal);
  return closing ?? lackingRight(deps, asker, { who: 'user', place }, signal);
}

/**
 * Why a channel may not use a project for what a person may do, by default whoever took it there; undefined if it may. A project
 * belongs to the channels that did not take it. The person must be a full member in one of them now, and the bot must answer
 * there: what a closed channel sent must not come out elsewhere. Nor may it come out where another organisation reads, as what
 * links lead to. Throws a SlackError, or the signal's reason, if Slack does not answer, or a StoreError.
 */
export async function projectDenial(
  deps: RightDeps,
  { workspace, channel: here }: Omit<ChannelActor, 'person'>,
  project: string,
  signal?: AbortSignal,
  by?: string,
): Promise<'outsider' | 'shared' | undefined> {
  const users = await deps.store.projects.channelsUsing(project);
  const used = users.find((one) => one.workspace === workspace && one.channel === here);
  const person = by ?? used?.taken_by ?? null;
  if (person === null) return undefined;
  // Nobody knows who took it.
  if (person === '') return 'outsider';
  const need = { who: 'member', place: 'listed' } as const;
  for (const { channel, ...use } of users) {
    if (use.workspace !== workspace || use.taken_by !== null) continue;
    const home = { workspace, channel, person };
    if ((await lackingRightNow(deps, home, need, signal)) !== undefined) continue;
    if ((await closingAt(deps, home, signal)) !== undefined) continue;
    if (channel === here || isDirectChannel(here)) return undefined;
    const isUnshared = (await deps.workspace(workspace)?.people.sharing(here, signal)) === false;
    return isUnshared ? undefined : 'shared';
  }
  return 'outsider';
}

/** After a reading that takes so long (ms), it is asked again who may see what was read. */
const LONG_READ_MS = 2_000;

/** What `read` returns, or what `refusal` says in its place: before it is read, and again if that took long. */
export async function readIfAllowed<T, Refusal = string>(
  refusal: () => Promise<Refusal | undefined>,
  read: () => Promise<T>,
): Promise<T | Refusal> {
  const before = await refusal();
  if (before !== undefined) return before;
  const begunAt = performance.now();
  const found = await read();
  return (isAskedAgain(begunAt) ? await refusal() : undefined) ?? found;
}

/** Whether who may see what was read is asked again, after a reading that began then (`performance.now()`). */
export function isAskedAgain(begunAt: number): boolean {
  return performance.now() - begunAt > LONG_READ_MS;
}

/** What people read who are no admins now: `refusal`, which goes into the audit trail, or that Slack does not say who they are. */
export async function adminRefusal(
  deps: RightDeps & Pick<RelayDeps, 'log'>,
  actor: WorkspaceActor,
  { control, refusal }: { control: string; refusal: string },
  signal?: AbortSignal,
): Promise<string | undefined> {
  const asked = { ...actor, channel: WHOLE_WORKSPACE };
  const why = await lackingRight(deps, asked, { who: 'admin', place: 'anywhere' }, signal);
  if (why === undefined) return undefined;
  if (why === 'unknown') return strings.controlRefused.unknown;
  await recordRefusal(deps, actor, { control, by: 'admins', why: 'admins' });
  return refusal;
}
