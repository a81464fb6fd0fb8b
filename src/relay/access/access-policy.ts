import type { PersonKind, SlackDirectory } from '../../slack/directory.ts';
import type { AllowedUsers } from '../../store/schema/channel-tables.ts';
import type { WorkspaceSettingsStore } from '../../store/workspaces/workspace-settings-store.ts';

/** Why a person may not have the agent work. */
export type AccessDenial = Exclude<PersonKind, 'member'>;

/** Somebody says something in a channel. */
export interface Asker {
  workspace: string;
  channel: string;
  person: string;
}

/** What admittance needs of the relay's parts. */
export interface AccessDeps {
  readonly store: { readonly workspaceSettings: Pick<WorkspaceSettingsStore, 'accessIn'> };
  readonly settings: { readonly admits: AllowedUsers; readonly admitsBots: readonly string[] };
}

/** Who may use the agent in a channel: people of these kinds, and these bots and workflows (B…). */
export interface AccessPolicy {
  admits: AllowedUsers;
  bots: readonly string[];
}

/** Who may use the agent in a channel: as the channel says, else its workspace, else the operator's settings. */
export async function accessPolicyFor(
  { store, settings }: AccessDeps,
  { workspace, channel }: Pick<Asker, 'workspace' | 'channel'>,
): Promise<AccessPolicy> {
  const { admits, bots } = await store.workspaceSettings.accessIn(workspace, channel);
  return { admits: admits ?? settings.admits, bots: bots ?? settings.admitsBots };
}

const KINDS_ADMITTED: Record<AllowedUsers, readonly PersonKind[]> = {
  members: ['member'],
  guests: ['member', 'guest'],
  everyone: ['member', 'guest', 'stranger'],
};

/** Whether the writers of this kind are taken; bots are admitted one by one only. */
export function isKindAllowed(admits: AllowedUsers, kind: PersonKind): boolean {
  return KINDS_ADMITTED[admits].includes(kind);
}

/** Whether a writer's id is that of a bot or workflow, which people never have. */
export function isBotId(id: string): boolean {
  return id.startsWith('B');
}

/**
 * Why a writer is not admitted; undefined for one who is. Throws a SlackError where Slack is away, or the signal's
 * reason.
 */
export async function accessDenialFor(
  deps: AccessDeps,
  people: Pick<SlackDirectory, 'requirePerson'>,
  asker: Asker,
  signal: AbortSignal,
): Promise<AccessDenial | undefined> {
  const { person } = asker;
  const { admits, bots } = await accessPolicyFor(deps, asker);
  if (isBotId(person)) return bots.includes(person) ? undefined : 'bot';
  const { kind } = await people.requirePerson(person, signal);
  if (kind === 'member') return undefined;
  return isKindAllowed(admits, kind) ? undefined : kind;
}
