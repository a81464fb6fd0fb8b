import type { Logger } from 'pino';
import * as words from '../../reply/words.ts';
import type { People, Person } from '../../slack/people.ts';
import type { Posting } from '../../slack/posting.ts';
import type { Audit } from '../../store/audit.ts';
import type { Channels } from '../../store/channels.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { ControlledBy } from '../../store/tables-channels.ts';
import { type AdmittanceParts, doorOf, isAdmitted } from '../admitting/admittance.ts';
import { isDirect } from '../arriving/arrivals.ts';
import { tryToTell } from '../telling.ts';

/**
 * Somebody wants to use a control. Who asks knows that the person is in the channel: a press there shows it, where the
 * press's own channel is this one (`turnOf`).
 */
export interface ControlUse {
  workspace: string;
  channel: string;
  person: string;
  /** The control's name, for the audit trail: the action id, or a word like `stop_word`. */
  control: string;
  /** The thread that it is about, in its channel; left out for what is about the whole channel. */
  root?: string | undefined;
  /** The turn that it is about: its asker counts like the starter of the thread. */
  turn?: { id?: string | undefined; asker: string } | undefined;
  /** It changes nothing of the agent's work: everyone of the channel may, whatever is set. */
  harmless?: boolean;
}

/** What permission needs of the relay's parts. */
export interface PermissionParts {
  readonly store: AdmittanceParts['store'] & {
    readonly threads: { get(key: ThreadKey): Promise<{ starter: string } | undefined> };
    readonly audit: Pick<Audit, 'add'>;
    readonly channels: Pick<Channels, 'get'>;
  };
  readonly log: Logger;
  readonly settings: AdmittanceParts['settings'] & { readonly controlsBy: ControlledBy };
  workspace(id: string): { people: Pick<People, 'person'>; posting: Pick<Posting, 'ephemeral'> } | undefined;
}

/** A press has to be answered within 3 s: who somebody is must be known in this time (ms). */
const whoMs = 1_500;

/**
 * Whether a person may use a control. A refusal is written into the audit trail and told to the person, with a
 * sentence that only they see; the caller just returns.
 */
export async function permits(parts: PermissionParts, use: ControlUse): Promise<boolean> {
  const refusal = await refusalOf(parts, use);
  if (refusal === undefined) return true;
  tryToTell(parts, { ...use, threadTs: use.root }, refusal);
  return false;
}

/** Like `permits`, for what is told elsewhere than in the channel: the sentence, or undefined where it is allowed. */
export async function refusalOf(parts: PermissionParts, use: ControlUse): Promise<string | undefined> {
  const by = await whoMay(parts, use);
  const why = await refused(parts, use, by);
  if (why === undefined) return undefined;
  const { workspace, channel: at, root, person, turn, control } = use;
  const details = { control, by, why };
  const row = { workspace, channel: at, root, person, turn: turn?.id };
  await parts.store.audit.add({ ...row, kind: 'refusal', details });
  parts.log.info({ ...row, ...details }, 'a control was refused');
  return words.controlRefused[why];
}

type Refusal = keyof typeof words.controlRefused;

/** Direct conversations are one person's each. */
async function whoMay(
  { store, settings }: PermissionParts,
  use: ControlUse,
): Promise<ControlledBy | 'direct'> {
  if (isDirect(use.channel)) return 'direct';
  if (use.harmless === true) return 'channel';
  return (await store.channels.get(use.workspace, use.channel)).controls ?? settings.controlsBy;
}

async function refused(
  parts: PermissionParts,
  use: ControlUse,
  by: ControlledBy | 'direct',
): Promise<Refusal | undefined> {
  if (by !== 'admins' && (await isTheirs(parts, use))) return undefined;
  if (by === 'direct') return by;
  const person = await whoIs(parts, use);
  if (person.kind === 'unknown') return 'unknown';
  if (person.isAdmin) return undefined;
  if (by !== 'channel') return by;
  const { admits } = await doorOf(parts, use);
  return isAdmitted(admits, person.kind) ? undefined : 'stranger';
}

/** Whether the thread, or the turn, is the person's own. */
async function isTheirs({ store }: PermissionParts, use: ControlUse): Promise<boolean> {
  const { workspace, channel, root, turn, person } = use;
  if (turn?.asker === person) return true;
  if (root === undefined) return false;
  return (await store.threads.get({ workspace, channel, root }))?.starter === person;
}

async function whoIs(parts: PermissionParts, { workspace, person }: ControlUse): Promise<Person> {
  const unknown = { id: person, name: person, kind: 'unknown', isAdmin: false } as const;
  const signal = AbortSignal.timeout(whoMs);
  try {
    return (await parts.workspace(workspace)?.people.person(person, signal)) ?? unknown;
  } catch (error) {
    if (!signal.aborted) throw error;
    return unknown;
  }
}
