import type * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';

/** Somebody who wants to see or change the settings of a channel. */
export interface SettingsUse {
  workspace: string;
  channel: string;
  person: string;
}

/** Why somebody may not change a channel's settings: a key of the words for it. */
export type SettingsRefusal = keyof typeof words.channelSettingsRefused;

/**
 * Why a person may not change a channel's settings, which is noted in the audit trail; undefined where they may: full
 * members in the channel, or admins alone where those alone may use its controls. What Slack does not tell means no.
 */
export async function settingsRefusal(
  parts: RelayParts,
  use: SettingsUse,
  signal?: AbortSignal,
): Promise<SettingsRefusal | undefined> {
  const { workspace, channel, person } = use;
  const { controls } = await parts.store.channels.get(workspace, channel);
  const by = (controls ?? parts.settings.controlsBy) === 'admins' ? 'admins' : 'channel';
  const why = await refused(parts, use, by, signal);
  if (why === undefined) return undefined;
  const details = { control: CONTROL, by, why };
  await parts.store.audit.add({ workspace, channel, person, kind: 'refusal', details });
  parts.log.info({ ...use, ...details }, 'a control was refused');
  return why;
}

const CONTROL = 'settings';

async function refused(
  parts: RelayParts,
  { workspace, channel, person }: SettingsUse,
  by: 'admins' | 'channel',
  signal: AbortSignal | undefined,
): Promise<SettingsRefusal | undefined> {
  const slack = parts.workspace(workspace);
  if (slack === undefined) return 'absent';
  const { kind, isAdmin } = await slack.people.person(person, signal);
  if (kind === 'unknown') return 'unknown';
  if (kind !== 'member') return 'guest';
  if (by === 'admins' && !isAdmin) return 'admins';
  try {
    // Slack names the people of a direct channel only to apps that may read more than we ask for.
    if (isDirect(channel)) return (await slack.posting.openDm(person)) === channel ? undefined : 'outsider';
    const standing = await slack.membership.standing(channel, person);
    if (standing === 'member') return undefined;
    return standing === 'outsider' ? 'outsider' : 'absent';
  } catch (error) {
    if (error instanceof SlackError) return 'unknown';
    throw error;
  }
}
