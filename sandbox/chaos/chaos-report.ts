import type { AgainCounts } from './asking-again.ts';
import { type Damage, damageCounts, isUndamaged } from './damage.ts';
import { DATABASE_FAULTS, type DatabaseFault } from './database-faults.ts';
import { KILL_STEPS, type KillStep } from './kill-step.ts';
import type { RecordCounts } from './saving-records.ts';
import type { WorkflowCounts } from './workflow-runs.ts';

/** The counts of a run besides the damage. */
export interface ChaosRunStats {
  kills: number;
  messages: number;
  killsByStep: ReadonlyMap<KillStep, number>;
  seconds: number;
  seed: number;
  replicas: number;
  files: number;
  freezes: number;
  /** Messages whose event, or whose thread root's event, Slack gave up delivering: they may be missing. */
  undelivered: number;
  /** Tasks and projects at the service that no thread uses. */
  orphanedTasks: number;
  orphanedProjects: number;
  /** Starts that failed although nobody killed the process. */
  failedStarts: number;
  /** How long after each fault of the database the oldest message of each thread that waited was answered (s). */
  recoverySeconds: ReadonlyMap<DatabaseFault, number>;
  /** Processes that had to be killed at the end because they did not shut down in time. */
  lateStops: number;
  /** What people did besides writing. */
  interventions: Readonly<Record<'edits' | 'deletions' | 'stops' | 'presses', number>>;
  directMessages: number;
  /** Messages that began as streams. */
  streams: number;
  /** Reminders of questions that nobody had answered, if the agent asked. */
  reminders: number | undefined;
  /** Kills at the posts and deletions of reminders. */
  reminderKills: number;
  /** Of the steps of workflows, if they ran. */
  workflows?: WorkflowCounts | undefined;
  /** Of the questions that were asked again, if some were. */
  again?: (AgainCounts & { linkKills: number }) | undefined;
  /** Of the records that people saved, if they did. */
  records?: (RecordCounts & { recordKills: number }) | undefined;
}

/** Within this time (s) the work goes on once the database is back, and what waits is answered. */
export const MAX_RECOVERY_SECONDS = 15;

/** Whether a run found no damage and no slow recovery, each process started and stopped as it should, and who was asked was reminded. */
export function hasPassed(
  damage: Damage,
  stats: Pick<
    ChaosRunStats,
    'failedStarts' | 'lateStops' | 'recoverySeconds' | 'reminders' | 'workflows' | 'again' | 'records'
  >,
): boolean {
  const { failedStarts, lateStops, recoverySeconds, reminders, workflows, again, records } = stats;
  return (
    isUndamaged(damage) &&
    failedStarts === 0 &&
    lateStops === 0 &&
    reminders !== 0 &&
    (workflows === undefined || workflows.completedOnce === workflows.executions) &&
    (records === undefined || areSaved(records)) &&
    (again === undefined || (again.askedAgain > 0 && again.linkedOnce === again.askedAgain)) &&
    [...recoverySeconds.values()].every((seconds) => seconds <= MAX_RECOVERY_SECONDS)
  );
}

/** Whether some asked for records, each got one, and no file is left. */
function areSaved({ recordsAsked, recordsSentOnce, recordsLeftOver }: RecordCounts): boolean {
  return recordsAsked > 0 && recordsSentOnce === recordsAsked && recordsLeftOver === 0;
}

/** The line of JSON that a run prints. */
export function reportLine(damage: Damage, stats: ChaosRunStats): string {
  const { kills, messages, killsByStep, recoverySeconds, seconds, workflows, again, records, ...rest } =
    stats;
  const steps = Object.fromEntries(KILL_STEPS.map((step) => [step, killsByStep.get(step) ?? 0]));
  const database =
    recoverySeconds.size === 0
      ? {}
      : {
          databaseFaults: Object.fromEntries(
            DATABASE_FAULTS.map((fault) => [fault, Number(recoverySeconds.has(fault))]),
          ),
          recoverySeconds: Object.fromEntries(recoverySeconds),
        };
  return JSON.stringify({
    chaos: true,
    kills,
    messages,
    killsByStep: steps,
    ...damageCounts(damage),
    ...database,
    ...workflows,
    ...again,
    ...records,
    seconds,
    ...rest,
  });
}

/** Seconds, to a tenth. */
export function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
