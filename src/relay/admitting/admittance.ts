import type { People, PersonKind } from '../../slack/people.ts';
import type { Admits } from '../../store/tables-channels.ts';
import type { WorkspaceSettingsRows } from '../../store/workspace-settings.ts';

/** Why a person may not have the agent work. */
export type NotAdmitted = Exclude<PersonKind, 'member'>;

/** Somebody says something in a channel. */
export interface Writer {
  workspace: string;
  channel: string;
  person: string;
}

/** What admittance needs of the relay's parts. */
export interface AdmittanceParts {
  readonly store: { readonly workspaceSettings: Pick<WorkspaceSettingsRows, 'door'> };
  readonly settings: { readonly admits: Admits; readonly admitsBots: readonly string[] };
}

/** Who may use the agent in a channel: people of these kinds, and these bots and workflows (B…). */
export interface Door {
  admits: Admits;
  bots: readonly string[];
}

/** Who may use the agent in a channel: as the channel says, else its workspace, else the operator's settings. */
export async function doorOf(
  { store, settings }: AdmittanceParts,
  { workspace, channel }: Pick<Writer, 'workspace' | 'channel'>,
): Promise<Door> {
  const { admits, bots } = await store.workspaceSettings.door(workspace, channel);
  return { admits: admits ?? settings.admits, bots: bots ?? settings.admitsBots };
}

const admitted: Record<Admits, readonly PersonKind[]> = {
  members: ['member'],
  guests: ['member', 'guest'],
  everyone: ['member', 'guest', 'stranger'],
};

/** Whether the writers of this kind are taken; bots are admitted one by one only. */
export function isAdmitted(admits: Admits, kind: PersonKind): boolean {
  return admitted[admits].includes(kind);
}

/** Whether a writer's id is that of a bot or workflow, which people never have. */
export function isBotId(id: string): boolean {
  return id.startsWith('B');
}

/**
 * Why a writer is not admitted; undefined for one who is. Throws a SlackError where Slack is away, or the signal's
 * reason.
 */
export async function notAdmitted(
  parts: AdmittanceParts,
  people: Pick<People, 'known'>,
  writer: Writer,
  signal: AbortSignal,
): Promise<NotAdmitted | undefined> {
  const { person } = writer;
  const { admits, bots } = await doorOf(parts, writer);
  if (isBotId(person)) return bots.includes(person) ? undefined : 'bot';
  const { kind } = await people.known(person, signal);
  if (kind === 'member') return undefined;
  return isAdmitted(admits, kind) ? undefined : kind;
}
