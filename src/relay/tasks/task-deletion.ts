import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskDeletion as Deletion } from '../../store/tables.ts';
import type { ThreadKey } from '../../store/threads.ts';
import type { RelayParts } from '../context.ts';
import { hasNoPlace } from '../showing/reply-messages.ts';
import { taskRefusal } from './access.ts';

/** Deletions that one look goes on with. */
const mostAtOnce = 20;

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

  constructor(parts: RelayParts, permission: Permission) {
    this.#parts = parts;
    this.#permission = permission;
  }

  /** Deletes a task; the answer is a sentence on what came of it. Throws where the store is away. */
  async delete({ task, person, ...thread }: DeletionRequest): Promise<string> {
    const { workspace: id, channel, root } = thread;
    const workspace = this.#parts.workspace(id);
    const row = await this.#parts.store.tasks.get(thread);
    if (workspace === undefined || row?.task !== task) return words.tasks.unknown;
    const refusal =
      (await taskRefusal(workspace, row, person)) ??
      (await this.#permission({ workspace: id, channel, root, person, control: 'task_delete' }));
    if (refusal !== undefined) return refusal;
    const asked = await this.#parts.store.taskDeletions.ask(thread, task, person);
    if (asked === 'over') return words.tasks.unknown;
    if (asked === 'busy') return words.tasks.busy;
    return (await this.#carryOut(asked)) ? words.tasks.deleted : words.tasks.deletedLater;
  }

  /** Goes on with deletions that nobody is at. */
  async resume(): Promise<void> {
    for (const deletion of await this.#parts.store.taskDeletions.due(mostAtOnce)) {
      await this.#carryOut(deletion);
    }
  }

  /** Whether the task is deleted at the service. */
  async #carryOut(deletion: Deletion): Promise<boolean> {
    const { task, account } = deletion;
    try {
      if (deletion.deleted_at === null) {
        await deleteAt(this.#parts, account, task);
        await this.#parts.store.taskDeletions.deleted(deletion);
        this.#parts.log.info({ task }, 'task deleted');
      }
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#parts.log.warn({ err: error, task }, 'a task could not be deleted; it is tried again');
      return false;
    }
    try {
      await this.#tell(deletion);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#parts.log.warn(
        { err: error, task },
        'a thread could not be told of a deletion; it is tried again',
      );
    }
    return true;
  }

  /** Tells the thread, once: after an unknown outcome it is read back first. */
  async #tell(deletion: Deletion): Promise<void> {
    const { workspace: id, channel, root: threadTs, task, telling_at: intendedAt } = deletion;
    const workspace = this.#parts.workspace(id);
    if (workspace === undefined) return;
    const { posting, readBack } = workspace;
    const { taskDeletions } = this.#parts.store;
    const key = `${task}/deleted`;
    try {
      const told = intendedAt !== null && (await readBack.find({ channel, threadTs, key, intendedAt }));
      if (!told) {
        if (intendedAt === null) await taskDeletions.telling(deletion);
        const message = { text: words.taskDeleted(deletion.person) };
        await posting.post({ channel, threadTs, message, key, kind: 'notice' });
      }
    } catch (error) {
      if (!hasNoPlace(error)) throw error;
    }
    await taskDeletions.told(deletion);
  }
}

async function deleteAt({ agent }: RelayParts, account: string, task: string): Promise<void> {
  try {
    await agent(account).deleteTask(task);
  } catch (error) {
    if (!(error instanceof AgentNotFoundError)) throw error;
  }
}
