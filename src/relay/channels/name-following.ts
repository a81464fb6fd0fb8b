import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { DueName } from '../../store/project-names.ts';
import { projectTexts } from '../asking/project.ts';
import type { RelayParts } from '../context.ts';
import { allOver, isOverdue } from '../patience.ts';

/** How long a process has a project for itself (ms), and how long its calls may take: less. */
const holdMs = 60_000;
const callsMs = 45_000;
const mostAtOnce = 20;
/** The pause after a try that failed (ms). */
const againMs = 30_000;
/** A name that could not be followed for so long (ms) is given up, until it changes again. */
const giveUpAfterMs = 24 * 60 * 60_000;
/** People change a name and a purpose one after the other: both go in one call (ms). */
const settleMs = 300;

/** Gives projects the names and purposes of their channels, where the channel's settings say so. */
export class NameFollowing {
  readonly #parts: RelayParts;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #again = false;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Does what there is to do, soon; also what an earlier try, or another process, left. */
  look(): void {
    this.#again = true;
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#all()
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#parts.log.warn({ err: error }, 'names of projects could not be brought up to date');
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #all(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#again && !signal.aborted) {
      this.#again = false;
      await sleep(settleMs, undefined, { signal });
      const due = await this.#parts.store.projectNames.claim(holdMs, mostAtOnce);
      // At once: one workspace's service may be slow.
      await allOver(due.map((one) => this.#follow(one)));
      if (due.length === mostAtOnce) this.#again = true;
    }
  }

  async #follow(due: DueName): Promise<void> {
    const closing = this.#closing.signal;
    const signal = AbortSignal.any([closing, AbortSignal.timeout(callsMs)]);
    const { store, log } = this.#parts;
    const { workspace, channel, account, project_id: project } = due;
    const slack = this.#parts.workspace(workspace);
    if (slack === undefined || project === null) return store.projectNames.done(due);
    if (due.name_due !== null && isOverdue(due.name_due, giveUpAfterMs)) {
      log.warn({ workspace, channel, project }, 'the name of a project is given up');
      return store.projectNames.done(due);
    }
    try {
      slack.people.forget(channel);
      const { kind } = await slack.people.channel(channel, signal);
      // A name that Slack does not tell must not become the channel's id.
      if (kind === 'unknown') return await store.projectNames.later(due, againMs);
      const texts = await projectTexts(slack, { channel, starter: '' });
      await this.#parts.agent(account).updateProject(project, texts, { signal });
      log.info({ workspace, channel, project }, 'a project follows the name of its channel');
      await store.projectNames.done(due);
    } catch (error) {
      // Another process, or the next start, takes it up at once.
      if (closing.aborted) return await store.projectNames.later(due, 0);
      if (!signal.aborted && !(error instanceof AgentError)) throw error;
      const lasting = error instanceof AgentNotFoundError || error instanceof AgentRejectedError;
      log.warn({ err: error, workspace, channel, project }, 'a project could not follow its channel');
      await (lasting ? store.projectNames.done(due) : store.projectNames.later(due, againMs));
    }
  }
}
