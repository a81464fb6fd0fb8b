import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { AccountGone } from '../../relay/installations/account-check.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { Poller } from '../../relay/runtime/poller.ts';
import { allSettledOrThrow, isOverdue } from '../../relay/runtime/retry.ts';
import { TakenOverElsewhere } from '../../relay/runtime/turn-errors.ts';
import { isThreadUnreachable } from '../../relay/runtime/unreachable-thread.ts';
import { taskRefusal } from '../../relay/tasks/task-access.ts';
import * as strings from '../../render/strings/strings.ts';
import { SlackError } from '../../slack/errors.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { TaskDeletion as Deletion } from '../../store/schema.ts';
import { SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';

/** How often deletions that were not done are looked for (ms), and how many of them one look takes. */
const POLL_INTERVAL_MS = 60_000;
const MAX_DELETIONS_PER_POLL = 20;
/** A deletion that was not done and told for so long (ms) is given up. */
const giveUpAfterMs = 7 * 24 * 60 * 60_000;

/** A person wants a thread's task deleted, and has confirmed it. */
export interface TaskDeletionRequest extends ThreadKey {
  /** The service's id: the thread may have another task by now. */
  task: string;
  person: string;
}

/** Says why a person may not use a control; undefined where they may. */
export type ControlRefusalCheck = (
  use: ThreadKey & { person: string; control: string },
) => Promise<string | undefined>;

/** Deletes tasks at the service: recorded first, told in the thread once, gone on with after a crash. */
export class TaskDeleter {
  readonly #deps: RelayDeps;
  readonly #checkRefusal: ControlRefusalCheck;
  readonly #poller: Poller;

  constructor(deps: RelayDeps, checkRefusal: ControlRefusalCheck) {
    this.#deps = deps;
    this.#checkRefusal = checkRefusal;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.#resumeDue(),
      onError: (error) => deps.log.warn({ err: error }, 'deletions could not be gone on with'),
    });
  }

  /** Deletes a task; the answer is a sentence on what came of it. Throws where the store is away. */
  async delete({ task, person, ...thread }: TaskDeletionRequest): Promise<string> {
    const { workspace: id, channel, root } = thread;
    const workspace = this.#deps.workspace(id);
    const row = await this.#deps.store.tasks.get(thread);
    if (workspace === undefined) return strings.tasks.unknown;
    if (row?.task !== task) return this.#goneText(id, task);
    const refusal =
      (await taskRefusal(workspace, row, person)) ??
      (await this.#checkRefusal({ workspace: id, channel, root, person, control: 'task_delete' }));
    if (refusal !== undefined) return refusal;
    if (await this.#isAccountGone({ workspace: id, account: row.account })) return strings.tasks.accountGone;
    const requested = await this.#deps.store.taskDeletions.request(thread, task, person);
    if (requested === 'over') return this.#goneText(id, task);
    if (requested === 'busy') return strings.tasks.busy;
    return strings.tasks[await this.#deleteAndTell(requested)];
  }

  /** Goes on with deletions that an earlier process, or an outage, left undone: now, and every minute. */
  start(): void {
    this.#poller.start();
    this.#poller.pollNow();
  }

  /** Leaves what is not done to the next process. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #resumeDue(): Promise<void> {
    const due = await this.#deps.store.taskDeletions.claimDue(MAX_DELETIONS_PER_POLL);
    if (this.#poller.signal.aborted) return;
    // At once: one workspace's service may be slow.
    await allSettledOrThrow(due.map((deletion) => this.#goOn(deletion)));
  }

  async #goOn(deletion: Deletion): Promise<void> {
    const outcome = await this.#deleteAndTell(deletion);
    if (!isOverdue(deletion.asked_at, giveUpAfterMs) || this.#poller.signal.aborted) return;
    if (outcome === 'deletedLater') await this.#tryToTellThread(deletion, strings.taskStays);
    const { taskDeletions } = this.#deps.store;
    const now = await taskDeletions.get(deletion);
    this.#deps.log.warn(
      { task: deletion.task, deleted: now?.deleted_at != null, told: now?.told_at != null },
      'a deletion is over, whatever came of it',
    );
    if (now?.told_at === null) await taskDeletions.markNotified(deletion);
  }

  /** Whether nobody can reach an account any more; one whose key cannot be opened just now may come back. */
  async #isAccountGone(key: { workspace: string; account: string }): Promise<boolean> {
    if (key.account === SETTINGS_ACCOUNT) return false;
    return ((await this.#deps.store.accounts.get(key))?.sealed ?? null) === null;
  }

  /** The thread has this task no more: a second press, or one on an old view. */
  async #goneText(workspace: string, task: string): Promise<string> {
    const asked = await this.#deps.store.taskDeletions.get({ workspace, task });
    if (asked === undefined) return strings.tasks.unknown;
    if (asked.deleted_at !== null) return strings.tasks.deleted;
    return asked.told_at === null ? strings.tasks.deletedLater : strings.tasks.accountGone;
  }

  /** What came of it at the service; the thread is told where it is the last word. */
  async #deleteAndTell(deletion: Deletion): Promise<'deleted' | 'deletedLater' | 'accountGone'> {
    const { task, account } = deletion;
    try {
      if (deletion.deleted_at === null) {
        await this.#deleteAtService(account, task);
        await this.#deps.store.taskDeletions.markDeleted(deletion);
        this.#deps.log.info({ task }, 'task deleted');
      }
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (!(error instanceof AccountGone) || !(await this.#isAccountGone(deletion))) {
        this.#deps.log.warn({ err: error, task }, 'a task could not be deleted; it is tried again');
        return 'deletedLater';
      }
      await this.#tryToTellThread(deletion, strings.taskNotDeleted);
      return 'accountGone';
    }
    await this.#tryToTellThread(deletion, strings.taskDeleted(deletion.person));
    return 'deleted';
  }

  async #tryToTellThread(deletion: Deletion, text: string): Promise<void> {
    try {
      await this.#tellThread(deletion, text);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      const { task } = deletion;
      this.#deps.log.warn(
        { err: error, task },
        'a thread could not be told of a deletion; it is tried again',
      );
    }
  }

  /** Tells the thread, once: after an unknown outcome it is read back first. */
  async #tellThread(deletion: Deletion, text: string): Promise<void> {
    const { workspace: id, channel, root: threadTs, task, telling_at: intendedAt } = deletion;
    const workspace = this.#deps.workspace(id);
    if (workspace === undefined) return;
    const { posting, readBack } = workspace;
    const { taskDeletions } = this.#deps.store;
    const key = `${task}/deleted`;
    const { signal } = this.#poller;
    try {
      const isTold =
        intendedAt !== null && (await readBack.findOwnPost({ channel, threadTs, key, intendedAt, signal }));
      if (!isTold) {
        // Waiting for the lane may have taken so long that another process is at it.
        const beforeSend = async () => {
          if (!(await taskDeletions.intendNotice(deletion))) throw new TakenOverElsewhere();
        };
        await posting.post({ channel, threadTs, message: { text }, key, kind: 'notice', signal, beforeSend });
      }
    } catch (error) {
      if (error instanceof TakenOverElsewhere) return;
      if (!isThreadUnreachable(error)) throw error;
    }
    await taskDeletions.markNotified(deletion);
  }

  /** What the service does not know any more is deleted. Throws AgentError; AccountGone where nobody can ask it. */
  async #deleteAtService(account: string, task: string): Promise<void> {
    try {
      await this.#deps.agent(account).deleteTask(task, { signal: this.#poller.signal });
    } catch (error) {
      if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) throw error;
    }
  }
}
