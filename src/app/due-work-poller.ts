import type { Logger } from 'pino';
import type { TaskDeleter } from '../features/tasks/task-deletion.ts';
import type { WorkflowStepHandler } from '../features/workflow-step/workflow-step-handler.ts';
import type { SendNow } from '../relay/controls/send-now.ts';
import type { StopControl } from '../relay/controls/stop-delivery.ts';
import { Poller } from '../relay/runtime/poller.ts';
import type { ProjectNameSync } from '../relay/sending/project-name-sync.ts';
import type { FollowUps } from '../relay/turns/follow-ups.ts';
import type { Database } from '../store/database.ts';
import { readDueWork } from '../store/queue/due-work.ts';
import type { ThreadQueue } from '../store/queue/thread-queue.ts';

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;
/** How often all installations and accounts are read, which also shows deleted ones (ms). */
const FULL_REFRESH_INTERVAL_MS = 60_000;

export interface DueWorkPollerDeps {
  database: Pick<Database, 'kysely'>;
  queue: Pick<ThreadQueue, 'releaseExpired'>;
  stopControl: Pick<StopControl, 'sendOpenStops'>;
  sendNow: Pick<SendNow, 'passOnUrgent'>;
  followUps: Pick<FollowUps, 'checkDue'>;
  taskDeleter: Pick<TaskDeleter, 'resumeDue'>;
  workflowStep: Pick<WorkflowStepHandler, 'completeDue'>;
  projectNameSync: Pick<ProjectNameSync, 'runSoon'>;
  /** What this process knows of installations and accounts, which has just been read. */
  refreshables: readonly { refresh(isFull: boolean): Promise<void> }[];
  log: Logger;
}

/** Looks for all due work at once, in place of a poll for each part. */
export class DueWorkPoller {
  readonly #deps: DueWorkPollerDeps;
  readonly #poller: Poller;
  #changeSeq: number | undefined;
  #fullyRefreshedAt = performance.now();

  constructor(deps: DueWorkPollerDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.#beginDue(),
      onError: (error) => deps.log.debug({ err: error }, 'could not look for due work; trying again'),
    });
  }

  start(): void {
    this.#poller.start();
    this.#poller.pollNow();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #beginDue(): Promise<void> {
    const { database, queue, stopControl, sendNow, followUps, projectNameSync } = this.#deps;
    const due = await readDueWork(database.kysely);
    if (due.stops) stopControl.sendOpenStops();
    if (due.followUps) followUps.checkDue();
    if (due.taskDeletions) this.#deps.taskDeleter.resumeDue();
    if (due.workflowSteps) this.#deps.workflowStep.completeDue();
    if (due.projectNames) projectNameSync.runSoon();
    if (due.expiredJobs) await queue.releaseExpired();
    if (due.urgentMessages) await sendNow.passOnUrgent();
    await this.#refresh(due.changeSeq);
  }

  async #refresh(changeSeq: number): Promise<void> {
    const now = performance.now();
    const isFull = now - this.#fullyRefreshedAt >= FULL_REFRESH_INTERVAL_MS;
    if (!isFull && changeSeq === this.#changeSeq) return;
    for (const source of this.#deps.refreshables) await source.refresh(isFull);
    if (isFull) this.#fullyRefreshedAt = now;
    this.#changeSeq = changeSeq;
  }
}
