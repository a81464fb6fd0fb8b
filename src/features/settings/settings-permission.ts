import { recordRefusal, settingsBy } from '../../relay/access/access-policy.ts';
import { isAdminFor, lackingRight } from '../../relay/access/rights.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
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
  const by = await settingsBy(deps, actor);
  const who = by === 'admins' ? 'admin' : 'member';
  const lacking = await lackingRight(deps, actor, { who, place: 'listed' }, signal);
  if (lacking === undefined) return undefined;
  const why = isNamed(lacking) ? lacking : 'guest';
  await recordRefusal(deps, actor, { control: 'settings', by, why });
  return sentences[why];
}

function isNamed(why: string): why is keyof typeof strings.channelSettingsRefused {
  return Object.hasOwn(strings.channelSettingsRefused, why);
}
