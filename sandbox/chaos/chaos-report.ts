import type { ChaosRunResult } from './chaos-run.ts';
import { type Damage, damageCounts, isUndamaged } from './damage.ts';
import { KILL_STEPS } from './kill-step.ts';
import type { RecordCounts } from './saving-records.ts';

type ChaosRunStats = ChaosRunResult['stats'];

/** Within this time (s) the work goes on once a fault of database or network is over, and what waits is answered. */
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
    seconds,
    ...rest,
  });
}
