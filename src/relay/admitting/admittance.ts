import type { People, PersonKind } from '../../slack/people.ts';
import type { Channels } from '../../store/channels.ts';
import type { Admits } from '../../store/tables-channels.ts';

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
  readonly store: { readonly channels: Pick<Channels, 'get'> };
  readonly settings: { readonly admits: Admits; readonly admitsBots: readonly string[] };
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
  { store, settings }: AdmittanceParts,
  people: Pick<People, 'known'>,
  { workspace, channel, person }: Writer,
  signal: AbortSignal,
): Promise<NotAdmitted | undefined> {
  if (isBotId(person)) return settings.admitsBots.includes(person) ? undefined : 'bot';
  const { admits } = await store.channels.get(workspace, channel);
  const { kind } = await people.known(person, signal);
  if (kind === 'member') return undefined;
  return isAdmitted(admits ?? settings.admits, kind) ? undefined : kind;
}
