import * as strings from '../../render/strings/index.ts';
import type { Person } from '../../slack/directory.ts';
import type { TaskControl, ThreadKey, Turn } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import { type ChannelActor, type ControlRequest, turnOf } from '../runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { taskRefusal } from '../tasks/task-list-and-access.ts';
import {
  accessPolicyFor,
  closingAt,
  isClosing,
  isKindAllowed,
  LOOKUP_TIMEOUT_MS,
  recordRefusal,
} from './access-policy.ts';

/** A person's use of a control. The caller knows that they are in the channel: a press there proves it (`turnOf`). */
export interface ControlUse extends ChannelActor {
  /** The control's name, for the audit trail: the action id, or a word like `stop_word`. */
  control: string;
  /** The root of the thread that it is about; left out if it is about the whole channel. */
  thread_ts?: string | undefined;
  /** The turn that it is about. Its asker may do what the thread's starter may. */
  turn?: { id?: string | undefined; asked_by: string } | undefined;
  /** It does not change the agent's work: whoever may use the agent in the channel may use it, whoever may stop it. */
  isReadOnly?: boolean;
}

/** The controls that work also where the bot does not answer: they end work, take something back, or lead to those. */
const WORK_EVERYWHERE: ReadonlySet<string> = new Set([
  'stop',
  'stop_word',
  'stop_reaction',
  'session_stop',
  'discard_paused',
  'stop_listening',
  'task_delete',
  'task_details',
]);

/** Whether a person may use a control. A refusal goes to the audit trail, and to the person in an ephemeral message. */
export async function mayUseControl(deps: RelayDeps, use: ControlUse): Promise<boolean> {
  const refusal = await controlRefusal(deps, use);
  if (refusal === undefined) return true;
  trySendEphemeral(deps, { ...use, threadTs: use.thread_ts }, refusal);
  return false;
}

/** Like `mayUseControl`, for callers that show the refusal themselves: its sentence, or undefined if it is allowed. */
export async function controlRefusal(deps: RelayDeps, use: ControlUse): Promise<string | undefined> {
  const by = await allowedUsers(deps, use);
  const closing =
    use.isReadOnly === true || WORK_EVERYWHERE.has(use.control) ? undefined : await closingAt(deps, use);
  const why = closing ?? (await refusalReason(deps, use, by));
  if (why === undefined) return undefined;
  await recordRefusal(deps, { ...use, turn_id: use.turn?.id }, { control: use.control, by, why });
  return isClosing(why) ? strings.closedPlaces[why] : strings.controlRefused[why];
}

/** The sentence for a person who may not use what a task's window offers; a refusal is audited. `isNow`: by no cached answer. */
export async function taskUseRefusal(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  row: TaskRow,
  { person, control, isNow }: { person: string; control: string; isNow?: boolean },
): Promise<string | undefined> {
  const closing = WORK_EVERYWHERE.has(control) ? undefined : await closingAt(deps, row);
  const ofPerson = closing ?? (await taskRefusal(workspace, row, person, isNow));
  if (ofPerson === undefined) return undefined;
  const { closedPlaces, tasks } = strings;
  const reasons: Record<string, string> = { [tasks.membershipUnknown]: 'unknown', [tasks.hidden]: 'hidden' };
  const why = closing ?? reasons[ofPerson] ?? 'outsider';
  await recordRefusal(deps, { ...row, person }, { control, why });
  return closing === undefined ? ofPerson : closedPlaces[closing];
}

/** A person's use of a control on a turn, or on a message that has none yet. */
export function useOnTurn(
  turn: ThreadKey & NonNullable<ControlUse['turn']>,
  person: string,
  control: string,
): ControlUse {
  const { workspace, channel, thread_ts } = turn;
  return { workspace, channel, thread_ts, person, turn, control };
}

/** The turn that a person's control names, if they may use the control. A refused person is told. */
export async function permittedTurn(
  deps: RelayDeps,
  request: ControlRequest,
  control: string,
  isReadOnly = false,
): Promise<Turn | 'unknown' | 'refused'> {
  const turn = await turnOf(deps.store, request);
  if (turn === undefined) return 'unknown';
  const use = { ...useOnTurn(turn, request.person, control), isReadOnly };
  return (await mayUseControl(deps, use)) ? turn : 'refused';
}

/** Who may use the control. A direct message belongs to one person. */
async function allowedUsers({ store, settings }: RelayDeps, use: ControlUse) {
  if (isDirectChannel(use.channel)) return 'direct';
  if (use.isReadOnly === true) return 'channel';
  return (await store.settings.get(use.workspace, use.channel)).task_control ?? settings.controlsBy;
}

async function refusalReason(deps: RelayDeps, use: ControlUse, by: TaskControl | 'direct') {
  if (by !== 'admins' && (await isOwnThreadOrTurn(deps, use))) return undefined;
  if (by === 'direct') return by;
  const person = await lookUpPerson(deps, use);
  if (person.kind === 'unknown') return 'unknown';
  if (person.isAdmin) return undefined;
  if (by !== 'channel') return by;
  const { admits } = await accessPolicyFor(deps, use);
  return isKindAllowed(admits, person.kind) ? undefined : 'stranger';
}

async function isOwnThreadOrTurn({ store }: RelayDeps, use: ControlUse): Promise<boolean> {
  const { workspace, channel, thread_ts, turn, person } = use;
  if (turn?.asked_by === person) return true;
  if (thread_ts === undefined) return false;
  return (await store.threads.get({ workspace, channel, thread_ts }))?.started_by === person;
}

async function lookUpPerson(deps: RelayDeps, { workspace, person }: ControlUse): Promise<Person> {
  const unknown = { id: person, name: person, kind: 'unknown', isHuman: false, isAdmin: false } as const;
  const signal = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
  try {
    return (await deps.workspace(workspace)?.people.person(person, signal)) ?? unknown;
  } catch (error) {
    if (!signal.aborted) throw error;
    return unknown;
  }
}
