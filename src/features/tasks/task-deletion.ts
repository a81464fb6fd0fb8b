import { anySignal } from '../../agent/any-signal.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { controlRefusal } from '../../relay/access/control-permission.ts';
import { AccountGone } from '../../relay/installations/account-check.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { Poller } from '../../relay/runtime/poller.ts';
import { allSettledOrThrow, isOverdue } from '../../relay/runtime/retry.ts';
import { isThreadUnreachable, TakenOverElsewhere } from '../../relay/runtime/turn-interruptions.ts';
import { taskRefusal } from '../../relay/tasks/task-access.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { TaskDeletion as Deletion } from '../../store/schema.ts';
import { SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';

/** The most unfinished deletions that are resumed at a time. */
const MAX_CONCURRENT_DELETIONS = 20;
/** How long the service may take to delete a task (ms), within the claim: other deletions wait for it. */
const SERVICE_TIMEOUT_MS = 30_000;
/** A deletion that is not finished and announced after this long (ms) is given up. */
const GIVE_UP_AFTER_MS = 7 * 24 * 60 * 60_000;

/** Deletes tasks at the service: recorded first, announced once in the thread. Polls for those that a crash left. */
export class TaskDeleter extends Poller {
  readonly #deps: RelayDeps;

  constructor(deps: RelayDeps) {
    super({
      poll: () => this.#resumeDue(),
      onError: (error) => deps.log.warn({ err: error }, 'could not resume unfinished task deletions'),
    });
    this.#deps = deps;
  }

  /** Deletes a thread's task with this id at the service; returns a sentence about the outcome. Throws a StoreError. */
  async delete({ task, person, ...thread }: ThreadKey & { task: string; person: string }): Promise<string> {
    const { workspace: id } = thread;
    const workspace = this.#deps.workspace(id);
    const row = await this.#deps.store.tasks.get(thread);
    if (workspace === undefined) return strings.tasks.notFound;
    if (row?.task_id !== task) return this.#goneText(id, task);
    const refusal =
      (await taskRefusal(workspace, row, person)) ??
      (await controlRefusal(this.#deps, { ...thread, person, control: 'task_delete' }));
    if (refusal !== undefined) return refusal;
    if (await this.#isAccountGone({ workspace: id, account_id: row.account_id }))
      return strings.tasks.accountGone;
    const requested = await this.#deps.store.taskDeletions.request(thread, task, person);
    if (requested === 'over') return this.#goneText(id, task);
    if (requested === 'busy') return strings.tasks.busy;
    return strings.tasks[await this.#deleteAndTell(requested)];
  }

  async #resumeDue(): Promise<void> {
    const due = await this.#deps.store.taskDeletions.claimDue(MAX_CONCURRENT_DELETIONS);
    if (this.signal.aborted) return;
    // In parallel: one workspace's service may be slow.
    await allSettledOrThrow(due.map((deletion) => this.#resume(deletion)));
  }

  async #resume(deletion: Deletion): Promise<void> {
    const outcome = await this.#deleteAndTell(deletion);
    if (!isOverdue(deletion.requested_at, GIVE_UP_AFTER_MS) || this.signal.aborted) return;
    if (outcome === 'deletedLater') await this.#tryToTellThread(deletion, strings.deletionAbandoned);
    const { taskDeletions } = this.#deps.store;
    const now = await taskDeletions.get(deletion);
    this.#deps.log.warn(
      { task: deletion.task_id, deleted: now?.deleted_at != null, told: now?.notified_at != null },
      'gave up a task deletion',
    );
    if (now?.notified_at === null) await taskDeletions.markNotified(deletion);
  }

  /** Whether the account's key is gone for good; a key that cannot be decrypted now may come back. */
  async #isAccountGone(key: { workspace: string; account_id: string }): Promise<boolean> {
    if (key.account_id === SETTINGS_ACCOUNT) return false;
    return ((await this.#deps.store.accounts.get(key))?.encrypted_api_key ?? null) === null;
  }

  /** The outcome for a task that the thread no longer has: a second press, or a press in an old view. */
  async #goneText(workspace: string, task: string): Promise<string> {
    const asked = await this.#deps.store.taskDeletions.get({ workspace, task_id: task });
    if (asked === undefined) return strings.tasks.notFound;
    if (asked.deleted_at !== null) return strings.tasks.deleted;
    return asked.notified_at === null ? strings.tasks.deletedLater : strings.tasks.accountGone;
  }

  /** Deletes at the service, and tells the thread once the outcome is final. */
  async #deleteAndTell(deletion: Deletion): Promise<'deleted' | 'deletedLater' | 'accountGone'> {
    const { task_id, account_id } = deletion;
    try {
      if (deletion.deleted_at === null) {
        await this.#deleteAtService(account_id, task_id);
        await this.#deps.store.taskDeletions.markDeleted(deletion);
        this.#deps.log.info({ task: task_id }, 'task deleted');
      }
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (!(error instanceof AccountGone) || !(await this.#isAccountGone(deletion))) {
        this.#deps.log.warn({ err: error, task: task_id }, 'could not delete a task; will retry');
        return 'deletedLater';
      }
      await this.#tryToTellThread(deletion, strings.deletionImpossible);
      return 'accountGone';
    }
    await this.#tryToTellThread(deletion, strings.taskDeleted(deletion.requested_by));
    return 'deleted';
  }

  async #tryToTellThread(deletion: Deletion, text: string): Promise<void> {
    try {
      await this.#tellThread(deletion, text);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      const { task_id } = deletion;
      this.#deps.log.warn({ err: error, task: task_id }, 'could not announce a task deletion; will retry');
    }
  }

  /** Posts in the thread, once: after an unknown outcome it reads the thread back first. */
  async #tellThread(deletion: Deletion, text: string): Promise<void> {
    const { workspace: id, channel, thread_ts: threadTs, task_id, notice_intended_at: intendedAt } = deletion;
    const workspace = this.#deps.workspace(id);
    if (workspace === undefined) return;
    const { posting, readBack } = workspace;
    const { taskDeletions } = this.#deps.store;
    const key = `${task_id}/deleted`;
    const { signal } = this;
    try {
      const isTold =
        intendedAt !== null && (await readBack.findOwnPost({ channel, threadTs, key, intendedAt, signal }));
      if (!isTold) {
        // The rate limit may have held this up so long that another process has taken over.
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

  /** A task that the service no longer has counts as deleted. Throws an AgentError; AccountGone if the key is gone. */
  async #deleteAtService(account: string, task: string): Promise<void> {
    const signal = anySignal([this.signal, AbortSignal.timeout(SERVICE_TIMEOUT_MS)]);
    try {
      await this.#deps.agent(account).deleteTask(task, { signal });
    } catch (error) {
      if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) throw error;
    }
  }
}
