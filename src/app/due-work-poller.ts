import type { Logger } from 'pino';
import type { TaskDeleter } from '../features/tasks/task-deletion.ts';
import type { SendNow } from '../relay/controls/send-now.ts';
import type { StopControl } from '../relay/controls/stop-delivery.ts';
import type { InstallationRefresh } from '../relay/installations/installation-refresh.ts';
import { Poller } from '../relay/runtime/poller.ts';
import type { ProjectNameSync } from '../relay/sending/project-name-sync.ts';
import type { FollowUps } from '../relay/turns/follow-ups.ts';
import type { Database } from '../store/database.ts';
import { readDueWork } from '../store/queue/due-work.ts';
import type { ThreadQueue } from '../store/queue/thread-queue.ts';

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;

export interface DueWorkPollerDeps {
  database: Pick<Database, 'kysely'>;
  queue: Pick<ThreadQueue, 'releaseExpired'>;
  stopControl: Pick<StopControl, 'sendOpenStops'>;
  sendNow: Pick<SendNow, 'passOnUrgent'>;
  followUps: Pick<FollowUps, 'checkDue'>;
  taskDeleter: Pick<TaskDeleter, 'resumeDue'>;
  projectNameSync: Pick<ProjectNameSync, 'runSoon'>;
  installationRefresh: Pick<InstallationRefresh, 'onChanged'>;
  log: Logger;
}

/** Looks for all due work at once, in place of a poll for each part. */
export class DueWorkPoller {
  readonly #deps: DueWorkPollerDeps;
  readonly #poller: Poller;
  #changeSeq: number | undefined;

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
    const { database, queue, stopControl, sendNow, followUps, taskDeleter, projectNameSync } = this.#deps;
    const due = await readDueWork(database.kysely);
    if (due.stops) stopControl.sendOpenStops();
    if (due.urgentMessages) sendNow.passOnUrgent();
    if (due.followUps) followUps.checkDue();
    if (due.taskDeletions) taskDeleter.resumeDue();
    if (due.projectNames) projectNameSync.runSoon();
    if (due.changeSeq !== this.#changeSeq) this.#deps.installationRefresh.onChanged();
    this.#changeSeq = due.changeSeq;
    if (due.expiredJobs) await queue.releaseExpired();
  }
}
