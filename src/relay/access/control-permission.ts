import { timeLimit } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskControl, ThreadKey, Turn } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import { type ChannelActor, type ControlRequest, turnOf } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { type ClosedBy, closingAt, isClosing, recordRefusal } from './access-policy.ts';
import { refusalTold } from './refusals.ts';
import { type LackingRight, lackingRight, taskPlace } from './rights.ts';

/** A person's use of a control, which Slack says that they use in the channel (`turnOf`). */
export interface ControlUse extends ChannelActor {
  /** The control's name, for the audit trail: the action id, or a word like `stop_word`. */
  control: string;
  /** The root of the thread that it is about; left out if it is about the whole channel. */
  thread_ts?: string | undefined;
  /** The turn that it is about. Its asker may do what the thread's starter may. */
  turn?: { id?: string | undefined; asked_by: string } | undefined;
  /** It does not change the agent's work: whoever may use the agent in the channel may use it, whoever may stop it. */
  isReadOnly?: boolean;
  /** They use it in a modal: where Slack says nothing of the channel. */
  isInView?: boolean;
}

/** The controls that end work, as whoever began it may, whatever they are by now. */
const STOPS: ReadonlySet<string> = new Set(['stop', 'stop_word', 'stop_reaction', 'session_stop']);

/** The controls that work also where the bot does not answer: they end work, take something back, or lead to those. */
const WORK_EVERYWHERE: ReadonlySet<string> = new Set([
  ...STOPS,
  'discard_paused',
  'stop_listening',
  'task_delete',
  'task_details',
]);

/** Whether a person may use a control. A refusal goes to the audit trail, and to the person as what only they see. */
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

/** Why a person does not get what a task's window offers, with the sentence for them. */
export interface TaskRefusal {
  sentence: string;
  why: ClosedBy | LackingRight | 'other_task';
}

/** Why a person may not use what a task's window offers; a refusal is audited. Throws a StoreError. */
export async function taskUseRefusal(
  deps: RelayDeps,
  row: TaskRow,
  { person, control }: { person: string; control: string },
): Promise<TaskRefusal | undefined> {
  const use = { ...row, person };
  const closing = WORK_EVERYWHERE.has(control) ? undefined : await closingAt(deps, row);
  const place = taskPlace(row, person);
  // Whoever reads the thread may see what it holds, and who may delete that is asked next; the rest is the agent's work.
  const who = WORK_EVERYWHERE.has(control) ? 'reader' : 'user';
  const why = closing ?? (await lackingRight(deps, use, { who, place }));
  if (why === undefined) return undefined;
  await recordRefusal(deps, use, { control, why });
  return { sentence: await refusalTold(deps, row, { why }, 'form'), why };
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
  return (await store.settings.get(use.workspace, use.channel)).task_control ?? settings.taskControl;
}

async function refusalReason(
  deps: RelayDeps,
  use: ControlUse,
  by: TaskControl | 'direct',
): Promise<keyof typeof strings.controlRefused | undefined> {
  const isOwn = by !== 'admins' && (await isOwnThreadOrTurn(deps, use));
  if (isOwn && STOPS.has(use.control)) return undefined;
  if (by === 'direct' && !isOwn) return by;
  const who = isOwn || by === 'channel' ? 'user' : 'admin';
  const inView = isOwn ? 'reading' : 'listed';
  const place = by === 'direct' ? 'anywhere' : use.isInView === true ? inView : 'acting';
  const why = await lackingRight(deps, use, { who, place }, timeLimit(deps.settings.lookupMs));
  if (why === undefined || why === 'unknown' || why === 'outsider' || why === 'hidden') return why;
  return who === 'admin' && by !== 'channel' ? by : 'stranger';
}

async function isOwnThreadOrTurn({ store }: RelayDeps, use: ControlUse): Promise<boolean> {
  const { workspace, channel, thread_ts, turn, person } = use;
  if (turn?.asked_by === person) return true;
  if (thread_ts === undefined) return false;
  return (await store.threads.get({ workspace, channel, thread_ts }))?.started_by === person;
}
