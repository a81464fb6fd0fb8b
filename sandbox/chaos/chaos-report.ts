import { DAMAGE_KINDS, type Damage } from './damage.ts';
import { KILL_STEPS, type KillStep } from './kill-step.ts';

/** The stats of a run beside the damage. */
export interface ChaosRunStats {
  kills: number;
  messages: number;
  killsByStep: ReadonlyMap<KillStep, number>;
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
export function isUndamaged(damage: Damage): boolean {
  return DAMAGE_KINDS.every((kind) => damage[kind].length === 0);
}

/** The line that a run prints. */
export function reportLine(damage: Damage, stats: ChaosRunStats): string {
  const { kills, messages, killsByStep, seconds, ...rest } = stats;
  const steps = Object.fromEntries(KILL_STEPS.map((step) => [step, killsByStep.get(step) ?? 0]));
  const counts = Object.fromEntries(DAMAGE_KINDS.map((kind) => [kind, damage[kind].length]));
  return JSON.stringify({ chaos: true, kills, messages, killsByStep: steps, ...counts, seconds, ...rest });
}
