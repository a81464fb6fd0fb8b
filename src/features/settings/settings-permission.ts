import { isAdminFor, recordRefusal } from '../../relay/access/access-policy.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { membershipIn } from '../../relay/tasks/task-list-and-access.ts';
import * as strings from '../../render/strings/index.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';

/**
 * The sentence for a person who may not change settings; undefined if they may: in a channel full members who are in it, or
 * only admins if only they may use its controls; for the whole workspace admins. Refuses if Slack does not say. A refusal goes
 * into the audit trail.
 */
export async function settingsRefusal(
  deps: RelayDeps,
  actor: ChannelActor,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { workspace, channel, person } = actor;
  const sentences = strings.channelSettingsRefused;
  if (channel === WHOLE_WORKSPACE) {
    if (await isAdminFor(deps, { workspace, person }, 'workspace_settings', signal)) return undefined;
    return signal?.aborted === true ? sentences.unknown : strings.workspaceSettings.notAdmin;
  }
  const { task_control } = await deps.store.settings.get(workspace, channel);
  const by = (task_control ?? deps.settings.controlsBy) === 'admins' ? 'admins' : 'channel';
  const why = await refusalReason(deps, actor, by, signal);
  if (why === undefined) return undefined;
  await recordRefusal(deps, actor, { control: 'settings', by, why });
  return sentences[why];
}

async function refusalReason(
  deps: RelayDeps,
  { workspace, channel, person }: ChannelActor,
  by: 'admins' | 'channel',
  signal: AbortSignal | undefined,
): Promise<keyof typeof strings.channelSettingsRefused | undefined> {
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'hidden';
  const { kind, isAdmin } = await slack.people.person(person, signal);
  if (kind === 'unknown') return 'unknown';
  if (kind !== 'member') return 'guest';
  if (by === 'admins' && !isAdmin) return 'admins';
  const status = await membershipIn(slack, channel, person);
  return status === 'member' ? undefined : status;
}
