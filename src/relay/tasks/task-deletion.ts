import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import { settingsAccount } from '../../store/accounts.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { TaskDeletion as Deletion } from '../../store/tables.ts';
import { AccountGone } from '../accounts/standing.ts';
import type { RelayParts } from '../context.ts';
import { TakenOver } from '../interruption.ts';
import { allOver, isOverdue } from '../patience.ts';
import { Rounds } from '../rounds.ts';
import { hasNoPlace } from '../showing/reply-messages.ts';
import { taskRefusal } from './access.ts';

/** How often deletions that were not done are looked for (ms), and how many of them one look takes. */
const everyMs = 60_000;
const mostAtOnce = 20;
/** A deletion that was not done and told for so long (ms) is given up. */
const giveUpAfterMs = 7 * 24 * 60 * 60_000;

/** A person wants a thread's task deleted, and has confirmed it. */
export interface DeletionRequest extends ThreadKey {
  /** The service's id: the thread may have another task by now. */
  task: string;
  person: string;
}

/** Says why a person may not use a control; undefined where they may. */
export type Permission = (
  use: ThreadKey & { person: string; control: string },
) => Promise<string | undefined>;

/** Deletes tasks at the service: recorded first, told in the thread once, gone on with after a crash. */
export class TaskDeletion {
  readonly #parts: RelayParts;
  readonly #permission: Permission;
  readonly #rounds: Rounds;

  constructor(parts: RelayParts, permission: Permission) {
    this.#parts = parts;
    this.#permission = permission;
    this.#rounds = new Rounds({
      everyMs,
      round: () => this.#resume(),
      onError: (error) => parts.log.warn({ err: error }, 'deletions could not be gone on with'),
    });
  }

  /** Deletes a task; the answer is a sentence on what came of it. Throws where the store is away. */
  async delete({ task, person, ...thread }: DeletionRequest): Promise<string> {
    const { workspace: id, channel, root } = thread;
    const workspace = this.#parts.workspace(id);
    const row = await this.#parts.store.tasks.get(thread);
    if (workspace === undefined) return words.tasks.unknown;
    if (row?.task !== task) return this.#gone(id, task);
    const refusal =
      (await taskRefusal(workspace, row, person)) ??
      (await this.#permission({ workspace: id, channel, root, person, control: 'task_delete' }));
    if (refusal !== undefined) return refusal;
    if (await this.#isGone({ workspace: id, account: row.account })) return words.tasks.accountGone;
    const asked = await this.#parts.store.taskDeletions.ask(thread, task, person);
    if (asked === 'over') return this.#gone(id, task);
    if (asked === 'busy') return words.tasks.busy;
    return words.tasks[await this.#carryOut(asked)];
  }

  /** Goes on with deletions that an earlier process, or an outage, left undone: now, and every minute. */
  start(): void {
    this.#rounds.start();
    this.#rounds.look();
  }

  /** Leaves what is not done to the next process. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  async #resume(): Promise<void> {
    const due = await this.#parts.store.taskDeletions.due(mostAtOnce);
    if (this.#rounds.signal.aborted) return;
    // At once: one workspace's service may be slow.
    await allOver(due.map((deletion) => this.#goOn(deletion)));
  }

  async #goOn(deletion: Deletion): Promise<void> {
    const outcome = await this.#carryOut(deletion);
    if (!isOverdue(deletion.asked_at, giveUpAfterMs) || this.#rounds.signal.aborted) return;
    if (outcome === 'deletedLater') await this.#tellPatiently(deletion, words.taskStays);
    const { taskDeletions } = this.#parts.store;
    const now = await taskDeletions.get(deletion);
    this.#parts.log.warn(
      { task: deletion.task, deleted: now?.deleted_at != null, told: now?.told_at != null },
      'a deletion is over, whatever came of it',
    );
    if (now?.told_at === null) await taskDeletions.told(deletion);
  }

  /** Whether nobody can reach an account any more; one whose key cannot be opened just now may come back. */
  async #isGone(key: { workspace: string; account: string }): Promise<boolean> {
    if (key.account === settingsAccount) return false;
    return ((await this.#parts.store.accounts.get(key))?.sealed ?? null) === null;
  }

  /** The thread has this task no more: a second press, or one on an old view. */
  async #gone(workspace: string, task: string): Promise<string> {
    const asked = await this.#parts.store.taskDeletions.get({ workspace, task });
    if (asked === undefined) return words.tasks.unknown;
    if (asked.deleted_at !== null) return words.tasks.deleted;
    return asked.told_at === null ? words.tasks.deletedLater : words.tasks.accountGone;
  }

  /** What came of it at the service; the thread is told where it is the last word. */
  async #carryOut(deletion: Deletion): Promise<'deleted' | 'deletedLater' | 'accountGone'> {
    const { task, account } = deletion;
    try {
      if (deletion.deleted_at === null) {
        await this.#deleteAt(account, task);
        await this.#parts.store.taskDeletions.deleted(deletion);
        this.#parts.log.info({ task }, 'task deleted');
      }
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      if (!(error instanceof AccountGone) || !(await this.#isGone(deletion))) {
        this.#parts.log.warn({ err: error, task }, 'a task could not be deleted; it is tried again');
        return 'deletedLater';
      }
      await this.#tellPatiently(deletion, words.taskNotDeleted);
      return 'accountGone';
    }
    await this.#tellPatiently(deletion, words.taskDeleted(deletion.person));
    return 'deleted';
  }

  async #tellPatiently(deletion: Deletion, text: string): Promise<void> {
    try {
      await this.#tell(deletion, text);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      const { task } = deletion;
      this.#parts.log.warn(
        { err: error, task },
        'a thread could not be told of a deletion; it is tried again',
      );
    }
  }

  /** Tells the thread, once: after an unknown outcome it is read back first. */
  async #tell(deletion: Deletion, text: string): Promise<void> {
    const { workspace: id, channel, root: threadTs, task, telling_at: intendedAt } = deletion;
    const workspace = this.#parts.workspace(id);
    if (workspace === undefined) return;
    const { posting, readBack } = workspace;
    const { taskDeletions } = this.#parts.store;
    const key = `${task}/deleted`;
    const { signal } = this.#rounds;
    try {
      const told =
        intendedAt !== null && (await readBack.find({ channel, threadTs, key, intendedAt, signal }));
      if (!told) {
        // Waiting for the lane may have taken so long that another process is at it.
        const beforeSend = async () => {
          if (!(await taskDeletions.telling(deletion))) throw new TakenOver();
        };
        await posting.post({ channel, threadTs, message: { text }, key, kind: 'notice', signal, beforeSend });
      }
    } catch (error) {
      if (error instanceof TakenOver) return;
      if (!hasNoPlace(error)) throw error;
    }
    await taskDeletions.told(deletion);
  }

  /** What the service does not know any more is deleted. Throws AgentError; AccountGone where nobody can ask it. */
  async #deleteAt(account: string, task: string): Promise<void> {
    try {
      await this.#parts.agent(account).deleteTask(task, { signal: this.#rounds.signal });
    } catch (error) {
      if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) throw error;
    }
  }
}
