import { type Damage, damageKinds } from './comparison.ts';
import { type TurnStep, turnSteps } from './step.ts';

/** The figures of a run beside the damage. */
export interface RunFigures {
  kills: number;
  messages: number;
  killsByStep: ReadonlyMap<TurnStep, number>;
  seconds: number;
  seed: number;
  replicas: number;
  files: number;
  freezes: number;
  /** Messages of which Slack gave every copy up, or the root of their thread: they may be missing. */
  undelivered: number;
  /** Tasks and projects at the service that nothing uses. */
  orphanedTasks: number;
  orphanedProjects: number;
  /** Starts that failed although nobody killed the process. */
  failedStarts: number;
  /** Processes that did not go by themselves when they were asked at the end. */
  lateStops: number;
}

/** Whether a run found nothing wrong. */
export function isWhole(damage: Damage): boolean {
  return damageKinds.every((kind) => damage[kind].length === 0);
}

/** The line that a run prints. */
export function reportLine(damage: Damage, figures: RunFigures): string {
  const { kills, messages, killsByStep, seconds, ...rest } = figures;
  const steps = Object.fromEntries(turnSteps.map((step) => [step, killsByStep.get(step) ?? 0]));
  const counts = Object.fromEntries(damageKinds.map((kind) => [kind, damage[kind].length]));
  return JSON.stringify({ chaos: true, kills, messages, killsByStep: steps, ...counts, seconds, ...rest });
}
