import { setTimeout as sleep } from 'node:timers/promises';
import { anySignal } from '../../agent/any-signal.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { DueProjectName } from '../../store/projects/project-names.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';
import { allSettledOrThrow, isOverdue } from '../runtime/retry.ts';
import { projectDetails } from './channel-project.ts';

/** How long a process owns a project that it renames (ms), and how long its calls may take. */
const CLAIM_MS = 60_000;
const CALLS_TIMEOUT_MS = 45_000;
const MAX_CONCURRENT_PROJECTS = 20;
/** The pause after a failed attempt (ms). */
const RETRY_PAUSE_MS = 30_000;
/** A name that has failed for this long (ms) is given up until it changes again. */
const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;
/** Collects changes for this time (ms): people change a name and then the purpose, and one call sends both. */
const DEBOUNCE_MS = 300;

/** Gives projects the names and purposes of their channels, where the channel's settings ask for it. */
export class ProjectNameSync extends Poller {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    super({
      poll: () => this.#syncDue(),
      onError: (error) => deps.log.warn({ err: error }, 'updating the names of projects failed'),
    });
    this.#deps = deps;
  }

  async #syncDue(): Promise<void> {
    await sleep(DEBOUNCE_MS, undefined, { signal: this.signal });
    const due = await this.#deps.store.projectNames.claim(CLAIM_MS, MAX_CONCURRENT_PROJECTS);
    // All at once: one workspace's service may be slow.
    await allSettledOrThrow(due.map((one) => this.#syncProject(one)));
    if (due.length === MAX_CONCURRENT_PROJECTS) this.pollNow();
  }

  async #syncProject(due: DueProjectName): Promise<void> {
    const closing = this.signal;
    const signal = anySignal([closing, AbortSignal.timeout(CALLS_TIMEOUT_MS)]);
    const { store, log } = this.#deps;
    const { workspace, channel, account_id, project_id } = due;
    const slack = this.#deps.workspace(workspace);
    if (slack === undefined || project_id === null) return store.projectNames.complete(due);
    if (due.name_sync_due_at !== null && isOverdue(due.name_sync_due_at, GIVE_UP_AFTER_MS)) {
      log.warn({ workspace, channel, project: project_id }, 'gave up updating the name of a project');
      return store.projectNames.complete(due);
    }
    try {
      slack.people.invalidate(channel);
      const { kind } = await slack.people.channel(channel, signal);
      // Without a name from Slack the project would be named after the channel's id.
      if (kind === 'unknown') return await store.projectNames.retryLater(due, RETRY_PAUSE_MS);
      const details = await projectDetails(slack, { channel, started_by: '' });
      await this.#deps.agent(account_id).updateProject(project_id, details, { signal });
      log.info({ workspace, channel, project: project_id }, 'project renamed like its channel');
      await store.projectNames.complete(due);
    } catch (error) {
      // Another process, or the next start, continues at once.
      if (closing.aborted) return await store.projectNames.retryLater(due, 0);
      if (!signal.aborted && !(error instanceof AgentError)) throw error;
      const isPermanent = error instanceof AgentNotFoundError || error instanceof AgentRejectedError;
      log.warn(
        { err: error, workspace, channel, project: project_id },
        'renaming a project like its channel failed',
      );
      await (isPermanent
        ? store.projectNames.complete(due)
        : store.projectNames.retryLater(due, RETRY_PAUSE_MS));
    }
  }
}
