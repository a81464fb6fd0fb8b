import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';

/** Somebody who wants to see or change the settings of a channel. */
export interface SettingsActor {
  workspace: string;
  channel: string;
  person: string;
}

/** Why somebody may not change a channel's settings: a key of the words for it. */
export type SettingsRefusalReason = keyof typeof strings.channelSettingsRefused;

/**
 * Why a person may not change a channel's settings, which is noted in the audit trail; undefined where they may: full
 * members in the channel, or admins alone where those alone may use its controls. What Slack does not tell means no.
 */
export async function settingsRefusal(
  deps: RelayDeps,
  actor: SettingsActor,
  signal?: AbortSignal,
): Promise<SettingsRefusalReason | undefined> {
  const { workspace, channel, person } = actor;
  const { controls } = await deps.store.channelSettings.get(workspace, channel);
  const by = (controls ?? deps.settings.controlsBy) === 'admins' ? 'admins' : 'channel';
  const why = await refusalReason(deps, actor, by, signal);
  if (why === undefined) return undefined;
  const details = { control: SETTINGS_CONTROL, by, why };
  await deps.store.audit.add({ workspace, channel, person, kind: 'refusal', details });
  deps.log.info({ ...actor, ...details }, 'a control was refused');
  return why;
}

const SETTINGS_CONTROL = 'settings';

async function refusalReason(
  deps: RelayDeps,
  { workspace, channel, person }: SettingsActor,
  by: 'admins' | 'channel',
  signal: AbortSignal | undefined,
): Promise<SettingsRefusalReason | undefined> {
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'absent';
  const { kind, isAdmin } = await slack.people.person(person, signal);
  if (kind === 'unknown') return 'unknown';
  if (kind !== 'member') return 'guest';
  if (by === 'admins' && !isAdmin) return 'admins';
  try {
    // Slack names the people of a direct channel only to apps that may read more than we ask for.
    if (isDirectChannel(channel))
      return (await slack.posting.openDm(person)) === channel ? undefined : 'outsider';
    const standing = await slack.membership.statusOf(channel, person);
    if (standing === 'member') return undefined;
    return standing === 'outsider' ? 'outsider' : 'absent';
  } catch (error) {
    if (error instanceof SlackError) return 'unknown';
    throw error;
  }
}
