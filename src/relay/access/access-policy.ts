import { timeLimit, unlessAborted, valueIf } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { PersonKind, SlackDirectory } from '../../slack/directory.ts';
import type { AuditEntry } from '../../store/audit-trail.ts';
import { StoreError } from '../../store/errors.ts';
import type { AllowedUsers } from '../../store/schema.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { ChannelActor, WorkspaceActor } from '../runtime/control-request.ts';
import type { AnswerLimits, RelayDeps } from '../runtime/deps.ts';
import { isBotId, isDirectChannel, WORKFLOW_STEP } from '../runtime/incoming-message.ts';
import type { JobKind } from '../runtime/job-runner.ts';

/** Who keeps the bot from answering in a place. */
export type ClosedBy = keyof typeof strings.closedPlaces;

/** Whom a conversation is between: a person and the bot, a few people in a group message, or those in a channel. */
export type PlaceKind = 'direct' | 'group' | 'channel';

interface Place extends Pick<ChannelActor, 'workspace' | 'channel'> {
  /** Whether it is a group message, where Slack has just said so. */
  isGroup?: boolean;
}

type AnswerSettings = Pick<
  Settings,
  'answers_in' | 'answers_in_channels' | 'answers_here' | 'direct_messages' | 'group_messages'
>;

/** What the decision takes. */
export type PlaceDeps = Pick<RelayDeps, 'store' | 'workspace'> & {
  readonly settings: { readonly answers: AnswerLimits; readonly lookupMs: number };
};

/** Who keeps the bot from answering there, if anybody does: the operator, then admins, then the channel, as far as these leave it. */
export function closedBy(
  kind: PlaceKind,
  channel: string,
  set: AnswerSettings,
  operator: AnswerLimits,
): ClosedBy | undefined {
  if (kind === 'channel') {
    if (operator.channels?.includes(channel) === false) return 'closed_by_operator';
    const isListed = set.answers_in_channels?.includes(channel) === true;
    if (set.answers_in === 'listed' && !isListed) return 'closed_by_admins';
    if (set.answers_in === 'channels' && set.answers_here !== 'on') return 'closed_by_channel';
  } else {
    const isDirect = kind === 'direct';
    if (!(isDirect ? operator.directMessages : operator.groupMessages)) return 'closed_by_operator';
    if ((isDirect ? set.direct_messages : set.group_messages) === 'off') return 'closed_by_admins';
  }
  return set.answers_here === 'off' ? 'closed_by_channel' : undefined;
}

/**
 * Who keeps the bot from answering in a channel now. Every way in asks this. Slack is asked only if a group message would be
 * decided otherwise than a channel; what it does not know is closed. Throws a StoreError, a SlackError or the signal's reason.
 */
export async function closingAt(
  deps: PlaceDeps,
  place: Place,
  signal?: AbortSignal,
): Promise<ClosedBy | undefined> {
  const set = await deps.store.settings.inForce(place.workspace, place.channel);
  return closingUnder(set, deps, place, signal);
}

/** Like `closingAt`, with what is set there. Throws a SlackError or the signal's reason. */
async function closingUnder(
  set: AnswerSettings,
  { settings, workspace: clientOf }: Omit<PlaceDeps, 'store'>,
  { workspace, channel, isGroup }: Place,
  signal?: AbortSignal,
): Promise<ClosedBy | undefined> {
  if (channel === WHOLE_WORKSPACE) return undefined;
  const decide = (kind: PlaceKind) => closedBy(kind, channel, set, settings.answers);
  if (isDirectChannel(channel)) return decide('direct');
  const [asChannel, asGroup] = [decide('channel'), decide('group')];
  if (isGroup !== undefined) return isGroup ? asGroup : asChannel;
  if (asChannel === asGroup) return asChannel;
  const lookup = clientOf(workspace)?.people.requireChannel(channel, signal);
  const isClosed = asChannel !== undefined && asGroup !== undefined;
  const known = await (isClosed ? lookup?.catch(() => undefined) : lookup);
  if (known === undefined || known.kind === 'unknown') return asChannel ?? asGroup;
  return known.kind === 'group_dm' ? asGroup : asChannel;
}

/** Whether a refusal is about where the bot answers. */
export function isClosing(why: string): why is ClosedBy {
  return Object.hasOwn(strings.closedPlaces, why);
}

/** Like `closingAt`; undefined also if Slack does not say in time: it is asked again before anything is sent. Throws a StoreError. */
export async function certainClosingAt(deps: PlaceDeps, place: Place): Promise<ClosedBy | undefined> {
  const closing = closingAt(deps, place, timeLimit(deps.settings.lookupMs));
  return closing.catch(valueIf(undefined, (error) => !(error instanceof StoreError)));
}

/** A kind of jobs that ends without acting if the bot no longer answers in its channel: `onGivenUp` tells whom it concerns. */
export function onlyWhereAnswered(deps: PlaceDeps, kind: JobKind): JobKind {
  return {
    ...kind,
    perform: async (job, lease) => {
      if ((await closingAt(deps, job, lease.signal)) === undefined) return kind.perform(job, lease);
      if (kind.onGivenUp !== 'counted') await kind.onGivenUp(job, lease);
      return 'given_up';
    },
  };
}

export type AccessDenial = Exclude<PersonKind, 'member'> | ClosedBy;

/** Who may use the agent in a channel: people up to this kind, these bots and workflows (B…), and WORKFLOW_STEP. */
export interface AccessPolicy {
  allowedUsers: AllowedUsers;
  allowedBots: readonly string[];
}

/** Who may use the agent in a channel, by its setting, else the workspace's, else the operator's. */
export async function accessPolicyFor(
  { store, settings }: Pick<RelayDeps, 'store' | 'settings'>,
  { workspace, channel }: Pick<ChannelActor, 'workspace' | 'channel'>,
): Promise<AccessPolicy> {
  return policyUnder(await store.settings.inForce(workspace, channel), settings);
}

function policyUnder(set: Settings, settings: RelayDeps['settings']): AccessPolicy {
  const bots = set.allowed_bots ?? settings.allowedBots;
  return {
    allowedUsers: set.allowed_users ?? settings.allowedUsers,
    allowedBots: set.allow_workflow_steps ? [...bots, WORKFLOW_STEP] : bots,
  };
}

const ALLOWED_KINDS: Record<AllowedUsers, readonly PersonKind[]> = {
  members: ['member'],
  guests: ['member', 'guest'],
  everyone: ['member', 'guest', 'stranger'],
};

/** Whether people of this kind may use the agent. Bots are allowed only one by one. */
export function isKindAllowed(allowedUsers: AllowedUsers, kind: PersonKind): boolean {
  return ALLOWED_KINDS[allowedUsers].includes(kind);
}

/**
 * Why the writer of a message may not use the agent there, under what is set there; undefined if they may. Who they are may be
 * known for half a minute. Throws a SlackError, or the signal's reason.
 */
export async function accessDenialUnder(
  set: Settings,
  deps: RelayDeps,
  people: Pick<SlackDirectory, 'currentPerson'>,
  asker: ChannelActor,
  signal: AbortSignal,
): Promise<AccessDenial | undefined> {
  const closing = await closingUnder(set, deps, asker, signal);
  if (closing !== undefined) return closing;
  const { person } = asker;
  const { allowedUsers, allowedBots } = policyUnder(set, deps.settings);
  if (isBotId(person)) return allowedBots.includes(person) ? undefined : 'bot';
  const { kind } = await unlessAborted(people.currentPerson(person), signal);
  if (kind === 'member') return undefined;
  return isKindAllowed(allowedUsers, kind) ? undefined : kind;
}

/** Who may change a channel's settings: full members in it, unless only admins may use its controls. Throws a StoreError. */
export async function settingsBy(
  { store, settings }: Pick<RelayDeps, 'store' | 'settings'>,
  { workspace, channel }: Pick<ChannelActor, 'workspace' | 'channel'>,
): Promise<'admins' | 'channel'> {
  const { task_control } = await store.settings.get(workspace, channel);
  return (task_control ?? settings.taskControl) === 'admins' ? 'admins' : 'channel';
}

/** Where people of a workspace may ask the bot, in mrkdwn; '' if nowhere. Throws a StoreError. */
export async function openPlaces({ store, settings }: Omit<PlaceDeps, 'workspace'>, workspace: string) {
  const set = await store.settings.get(workspace, WHOLE_WORKSPACE);
  const { channels: allowed } = settings.answers;
  const listed = set.answers_in === 'listed' ? (set.answers_in_channels ?? []) : undefined;
  const channels = listed?.filter((channel) => allowed?.includes(channel) !== false) ?? allowed;
  return strings.askElsewhere(channels, closedBy('direct', 'D', set, settings.answers) === undefined);
}

/** Records in the audit trail that a person was refused something. Throws a StoreError. */
export async function recordRefusal(
  { store, log }: Pick<RelayDeps, 'store' | 'log'>,
  use: WorkspaceActor & Pick<AuditEntry, 'channel' | 'thread_ts' | 'turn_id'>,
  details: NonNullable<AuditEntry['details']>,
): Promise<void> {
  const { workspace, channel, thread_ts, turn_id, person } = use;
  const place = { workspace, channel, thread_ts, turn_id };
  await store.audit.addRefusal({ ...place, user_id: person, details });
  log.info({ ...place, person, ...details }, 'refused what a person asked for');
}
