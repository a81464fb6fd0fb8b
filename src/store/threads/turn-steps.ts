import { type RawBuilder, sql } from 'kysely';
import { JOB_KIND, jobWanted } from '../jobs/jobs.ts';
import { sameThread, toPostgresJson } from '../queries.ts';
import type { Job, Message, SlackTs, Turn, TurnLocation, TurnOutcome, TurnPhase } from '../schema.ts';
import type { PostOutcome } from './posts.ts';
import { BEFORE_SENT, BEFORE_SETTLED, PHASES } from './turn-phase.ts';

type JsonColumn = 'attached_file_ids' | 'file_notes' | 'tool_counts';

/** What a step records. */
export type TurnUpdate = Partial<Omit<Turn, keyof TurnLocation | JsonColumn | 'source_checks' | 'phase'>> & {
  [Column in JsonColumn]?: NonNullable<Turn[Column]>;
};

/** What goes with a message that is frozen. */
export interface FreezeOptions {
  /** The message before it that waits, too. */
  earlierTs?: SlackTs | undefined;
  /** Becomes the thread's task, unless it has one. */
  startedTaskId?: string | null;
  /** Becomes the title of the thread's task. */
  title?: string | undefined;
  /** The messages that go with it. */
  others?: readonly Message[];
  /** Who wrote it, of a message that is sent again the first one's writer; '' if nobody knows. Takes part in the task. */
  writer?: string;
}

/** What is recorded with the end of a turn. */
export interface LastStep {
  values?: TurnUpdate;
  posts?: readonly PostOutcome[];
  /** When its task is first checked for what it makes later (ms from now). */
  firstCheckMs?: number;
  /** Its answer's sources are to be checked. */
  checksSources?: boolean;
  /** The job of the run, which is done with its turn unless the thread has other work. */
  job?: Job;
  onJobDone?: () => void;
}

/** What a statement does beside recording a step. */
export interface Together extends Pick<LastStep, 'job' | 'onJobDone'> {
  /** Other changes, each a named part of the statement. */
  also?: RawBuilder<unknown>[];
  /** Nothing is recorded otherwise. */
  only?: RawBuilder<unknown>;
  /** The turn is finished with this outcome, unless it has one. */
  end?: TurnOutcome;
  /** The task that the thread gets, unless it has one. */
  startedTaskId?: string | null;
}

/** The steps of a turn that operators see, in their order. A step has happened when it is recorded. */
export type TurnStep =
  | 'visible'
  | 'uploaded'
  | 'frozen'
  | 'sent'
  | 'replying'
  | 'settled'
  | 'results'
  | 'finished';

/** Called for each step; `task` is the thread's, once it has one. It must not throw, and nothing waits for it. */
export type OnStep = (turn: Turn, step: TurnStep, task: string | null) => void;

/** The column that records each step, and the phases in which it may be recorded, perhaps again after a lost answer. */
const STEPS: readonly { column: keyof Turn; step: TurnStep; within?: readonly TurnPhase[] }[] = [
  { column: 'first_visible_at', step: 'visible' },
  { column: 'file_notes', step: 'uploaded' },
  { column: 'prompt', step: 'frozen', within: BEFORE_SENT },
  { column: 'user_message_id', step: 'sent', within: [...BEFORE_SETTLED, 'unsent', 'doubted'] },
  { column: 'assistant_message_id', step: 'replying', within: PHASES },
  { column: 'settled_at', step: 'settled', within: PHASES },
  { column: 'results_posted_at', step: 'results', within: PHASES },
];

/** The steps that recording these values means; clearing a value is no step. */
export function recordedSteps(values: Readonly<Record<string, unknown>>): TurnStep[] {
  return STEPS.flatMap(({ column, step }) => (values[column] == null ? [] : [step]));
}

/** Whether a turn is where these values may be recorded: no later step was. For the table of turns. */
export function mayRecord(values: Readonly<Record<string, unknown>>) {
  const last = STEPS.findLast(({ column, within }) => within !== undefined && values[column] != null);
  return last?.within === undefined ? sql`true` : sql`phase = any(${[...last.within]}::text[])`;
}

/** The columns of what a step records. */
export function stepColumns({ attached_file_ids, file_notes, tool_counts, ...rest }: TurnUpdate) {
  return {
    ...rest,
    ...(attached_file_ids === undefined ? {} : { attached_file_ids: toPostgresJson(attached_file_ids) }),
    ...(tool_counts === undefined ? {} : { tool_counts: toPostgresJson(tool_counts) }),
    ...(file_notes === undefined ? {} : { file_notes: toPostgresJson(file_notes) }),
  };
}

/** The columns of the end of a turn; its first outcome stays. */
export function endColumns(outcome: TurnOutcome) {
  return {
    finished_at: sql<Date>`now()`,
    outcome: sql<TurnOutcome>`coalesce(outcome, ${outcome})`,
    settled_at: sql<Date>`coalesce(settled_at, now())`,
  };
}

/** The task of a turn's thread. */
export const threadTaskId = sql<string | null>`(
  select task_id from threads where ${sameThread('threads', 'turns')})`.as('task');

/** A statement that asks for the checks of a turn's thread, in place of those of the turn before: the first in so long. */
export function followUpWanted({ workspace, channel, thread_ts, id }: TurnLocation, firstMs: number) {
  const payload = { turn_id: id, since: new Date() };
  return jobWanted({ workspace, kind: JOB_KIND.followUp, channel, thread_ts, key: '', payload }, firstMs);
}

/** A statement that asks for a check of the sources that a turn's answer names. */
export function sourceCheckWanted({ workspace, channel, thread_ts, id }: TurnLocation) {
  return jobWanted({ workspace, kind: JOB_KIND.sourceCheck, channel, thread_ts, key: id }, 0);
}
