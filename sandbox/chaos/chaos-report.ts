import type { ChaosRunResult } from './chaos-run.ts';
import { type Damage, damageCounts, isUndamaged } from './damage.ts';
import { KILL_STEPS } from './kill-step.ts';
import type { SourceCounts } from './replacing-sources.ts';
import type { RecordCounts } from './saving-records.ts';

type ChaosRunStats = ChaosRunResult['stats'];

/** Within this time (s) the work goes on once a fault of database or network is over, and what waits is answered. */
export const MAX_RECOVERY_SECONDS = 15;

/** Whether a run found no damage and no slow recovery, each process started and stopped as it should, and who was asked was reminded. */
export function hasPassed(
  damage: Damage,
  stats: Pick<
    ChaosRunStats,
    | 'failedStarts'
    | 'lateStops'
    | 'recoverySeconds'
    | 'reminders'
    | 'workflows'
    | 'again'
    | 'records'
    | 'sources'
  >,
): boolean {
  const { failedStarts, lateStops, recoverySeconds, reminders, workflows, again, records, sources } = stats;
  return (
    isUndamaged(damage) &&
    failedStarts === 0 &&
    lateStops === 0 &&
    reminders !== 0 &&
    (workflows === undefined || workflows.completedOnce === workflows.executions) &&
    (records === undefined || areSaved(records)) &&
    (sources === undefined || areChecked(sources)) &&
    (again === undefined || (again.askedAgain > 0 && again.linkedOnce === again.askedAgain)) &&
    [...recoverySeconds.values()].every((seconds) => seconds <= MAX_RECOVERY_SECONDS)
  );
}

/** Whether some asked for records, each got one, and no file is left. */
function areSaved({ recordsAsked, recordsSentOnce, recordsLeftOver }: RecordCounts): boolean {
  return recordsAsked > 0 && recordsSentOnce === recordsAsked && recordsLeftOver === 0;
}

/** Whether there were lists, each is marked, and each press came to the agent once. */
function areChecked({ lists, listsMarked, replacementsAsked, replacedOnce }: SourceCounts): boolean {
  return lists > 0 && listsMarked === lists && replacementsAsked > 0 && replacedOnce === replacementsAsked;
}

/** The line of JSON that a run prints. */
export function reportLine(damage: Damage, stats: ChaosRunStats): string {
  const {
    kills,
    messages,
    killsByStep,
    faultKinds,
    recoverySeconds,
    seconds,
    workflows,
    again,
    records,
    sources,
    ...rest
  } = stats;
  const steps = Object.fromEntries(KILL_STEPS.map((step) => [step, killsByStep.get(step) ?? 0]));
  const faults = Object.entries(faultKinds).map(([key, kinds]) => [
    key,
    Object.fromEntries(kinds.map((kind) => [kind, Number(recoverySeconds.has(kind))])),
  ]);
  const recovery = recoverySeconds.size === 0 ? {} : { recoverySeconds: Object.fromEntries(recoverySeconds) };
  return JSON.stringify({
    chaos: true,
    kills,
    messages,
    killsByStep: steps,
    ...damageCounts(damage),
    ...Object.fromEntries(faults),
    ...recovery,
    ...workflows,
    ...again,
    ...records,
    ...sources,
    seconds,
    ...rest,
  });
}
