import type { FileLimits } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import type { Message, ThreadKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { LimitUse, TurnLimits } from '../../store/threads/turn-usage.ts';
import type { WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { WORKFLOW_STEP } from '../runtime/incoming-message.ts';
import { notifyWriter, type QuotaExceeded, refusalTold, refuseMessage } from './refusals.ts';

const HOUR_MS = 60 * 60_000;

/**
 * How often a person may change settings in an hour, which people and the service are told each time, and how
 * often be sent files or links.
 */
const MAX_AN_HOUR = 30;

/** A thread takes so many questions of bots in a row, in this time: two that answer each other would never stop. */
export const MOST_OF_BOTS = { count: 10, ms: HOUR_MS };

/** In the order in which they are told, if they last as long. */
const LIMITS = ['hourPerson', 'atOncePerson', 'hourWorkspace', 'atOnceWorkspace'] as const;

/** Begins a message's turn, or refuses the message beyond a quota. `passedOnBy`: the running turn that sends it. */
export async function beginTurnOrRefuse(
  work: Pick<ThreadWork, 'deps' | 'workspace'>,
  id: string,
  message: Message,
  passedOnBy: string | null = null,
): Promise<Turn | undefined> {
  const { store, settings } = work.deps;
  if (Object.values(settings.quotas).every((most) => most === 0))
    return store.turns.begin(id, message, passedOnBy);
  const result = await store.transaction(async ({ turnUsage, turns }) => {
    // Counting and beginning must not overlap with another turn's.
    await turnUsage.lockWorkspace(message.workspace);
    const { workspace, user_id: person } = message;
    const exceeded = await exceededQuota(turnUsage, workspace, person, settings.quotas);
    return exceeded === undefined ? { turn: await turns.begin(id, message, passedOnBy) } : { exceeded };
  });
  if ('turn' in result) return result.turn;
  const refusal = { why: 'limit', exceeded: result.exceeded } as const;
  if (await refuseMessage(work, message, refusal))
    notifyWriter(work.deps, message, await refusalTold(work.deps, message, refusal));
  return undefined;
}

/** Whether a person has changed settings so often in the last hour that they must wait. Throws a StoreError. */
export async function isSettingTooOften(store: Store, actor: WorkspaceActor): Promise<boolean> {
  return (await countLately(store, actor, 'setting')) >= MAX_AN_HOUR;
}

/**
 * The sentence for a person who was sent files, or links to them, so often in the last hour that they must wait; otherwise this
 * time counts. Throws a StoreError.
 */
export async function filesRefusal(
  store: Store,
  { person, workspace, channel, thread_ts }: ThreadKey & WorkspaceActor,
  control: string,
): Promise<string | undefined> {
  const actor = { workspace, person };
  const tooOften = strings.filesTooOften(MAX_AN_HOUR);
  if ((await countLately(store, actor, 'files')) >= MAX_AN_HOUR) return tooOften;
  const place = { workspace, channel, thread_ts };
  await store.audit.add({ ...place, user_id: person, kind: 'files', details: { control } });
  // Of many presses at once, all may have come so far.
  return (await countLately(store, actor, 'files')) > MAX_AN_HOUR ? tooOften : undefined;
}

function countLately({ audit }: Store, actor: WorkspaceActor, kind: 'setting' | 'files') {
  const since = new Date(Date.now() - HOUR_MS);
  return audit.countOf(kind, { workspace: actor.workspace, user_id: actor.person }, since);
}

/** What the quotas still allow a person, or when they allow something again: messages, and the size of a file. Throws a StoreError. */
export async function allowanceTold(
  { store, settings }: Pick<RelayDeps, 'store' | 'settings'>,
  { workspace, person }: WorkspaceActor,
): Promise<string> {
  const { quotas } = settings;
  const used = await store.turnUsage.used(workspace, person, quotas, HOUR_MS);
  const begun = (limit: string) => used.find((one) => one.limit === limit)?.count ?? 0;
  const left = messagesLeft(quotas, { person: begun('hourPerson'), workspace: begun('hourWorkspace') });
  const exceeded = firstExceeded(used);
  const messages =
    exceeded === undefined ? strings.messageAllowance(left) : strings.quotaReached(exceeded, false);
  return [messages, strings.fileAllowance(largestFile(settings))].join(' ').trim();
}

/** How many more messages the hourly quotas allow, after so many; without those that are not set. */
export function messagesLeft(
  { hourPerson, hourWorkspace }: TurnLimits,
  begun: { person: number; workspace: number },
): Partial<typeof begun> {
  return {
    ...(hourPerson > 0 && { person: Math.max(0, hourPerson - begun.person) }),
    ...(hourWorkspace > 0 && { workspace: Math.max(0, hourWorkspace - begun.workspace) }),
  };
}

/** The largest file that people can pass to the agent, in bytes: Slack takes 1 GB (https://slack.com/help/articles/201330736). */
export function largestFile({ maxFileBytes }: Pick<FileLimits, 'maxFileBytes'>): number {
  return Math.min(maxFileBytes, 1_000_000_000);
}

/** The limit that another turn would exceed, of two by the hour the longer. A workflow's steps count for the workspace alone. */
export async function exceededQuota(
  turnUsage: Store['turnUsage'],
  workspace: string,
  person: string,
  quotas: TurnLimits,
): Promise<QuotaExceeded | undefined> {
  const limits = person === WORKFLOW_STEP ? { ...quotas, hourPerson: 0, atOncePerson: 0 } : quotas;
  return firstExceeded(await turnUsage.used(workspace, person, limits, HOUR_MS));
}

function firstExceeded(used: readonly LimitUse[]): QuotaExceeded | undefined {
  const reached = used.filter(({ count, most }) => count >= most);
  const told = reached.toSorted((a, b) => LIMITS.indexOf(a.limit) - LIMITS.indexOf(b.limit));
  const hourly = told.filter(({ limit }) => limit === 'hourPerson' || limit === 'hourWorkspace');
  const [first] = [...hourly.toSorted((a, b) => Number(b.began_at) - Number(a.began_at)), ...told];
  if (first === undefined) return undefined;
  const { limit, most, began_at, now } = first;
  const endsAt = hourly.length > 0 && began_at ? began_at.getTime() + HOUR_MS : undefined;
  return { limit, most, waitMs: endsAt === undefined ? null : toldWaitMs(endsAt - now.getTime()) };
}

/** A wait (ms) as people are told it: rounded up to whole minutes, or seconds, because rounded down it would be too short. */
export function toldWaitMs(waitMs: number): number {
  const unitMs = waitMs > 60_000 ? 60_000 : 1_000;
  return Math.ceil(Math.max(1, waitMs) / unitMs) * unitMs;
}
