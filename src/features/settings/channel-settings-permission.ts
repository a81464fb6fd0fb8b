import { closingAt, recordRefusal } from '../../relay/access/access-policy.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { membershipIn } from '../../relay/tasks/task-list-and-access.ts';
import type * as strings from '../../render/strings/index.ts';

/** Why a person may not change a channel's settings: a key of the sentences for it. */
export type SettingsRefusalReason = keyof typeof strings.channelSettingsRefused;

/**
 * Why a person may not change a channel's settings; undefined if they may: full members who are in the channel, or
 * only admins if only they may use its controls. Refuses if Slack does not say. A refusal goes into the audit trail.
 */
export async function settingsRefusal(
  deps: RelayDeps,
  actor: ChannelActor,
  signal?: AbortSignal,
): Promise<SettingsRefusalReason | undefined> {
  const { workspace, channel } = actor;
  const { task_control } = await deps.store.settings.get(workspace, channel);
  const by = (task_control ?? deps.settings.controlsBy) === 'admins' ? 'admins' : 'channel';
  const why = await refusalReason(deps, actor, by, signal);
  if (why !== undefined) await recordRefusal(deps, actor, { control: 'settings', by, why });
  return why;
}

async function refusalReason(
  deps: RelayDeps,
  { workspace, channel, person }: ChannelActor,
  by: 'admins' | 'channel',
  signal: AbortSignal | undefined,
): Promise<SettingsRefusalReason | undefined> {
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'hidden';
  const { kind, isAdmin } = await slack.people.person(person, signal);
  if (kind === 'unknown') return 'unknown';
  if (kind !== 'member') return 'guest';
  if (by === 'admins' && !isAdmin) return 'admins';
  const status = await membershipIn(slack, channel, person);
  return status === 'member' ? undefined : status;
}

/**
 * Whether a person may attach a project to a channel. A project that channels use belongs to them: the person must be in
 * one of them, in this workspace, in which the bot answers: what a closed channel sent must not come out in another. An unused project is free only if workspaces of different owners do not share its
 * account (`isSharedAccount`). Throws a SlackError if membership cannot be read.
 */
export async function mayUseProject(
  deps: RelayDeps & { isSharedAccount: (account: string) => boolean },
  { workspace, person }: ChannelActor,
  projectId: string,
): Promise<boolean> {
  const channels = await deps.store.projects.channelsUsing(projectId);
  if (channels.length === 0) return !deps.isSharedAccount(deps.accountOf(workspace));
  const membership = deps.workspace(workspace)?.membership;
  for (const { workspace: home, channel } of channels) {
    if (home !== workspace || (await membership?.statusOf(channel, person)) !== 'member') continue;
    if ((await closingAt(deps, { workspace, channel })) === undefined) return true;
  }
  return false;
}
