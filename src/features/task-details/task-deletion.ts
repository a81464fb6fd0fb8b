import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import { controlRefusal, taskUseRefusal } from '../../relay/access/control-permission.ts';
import { AccountGone } from '../../relay/installations/service-accounts.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { JobKind, JobOutcome } from '../../relay/runtime/job-runner.ts';
import type { Lease } from '../../relay/runtime/lease.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job, ThreadKey } from '../../store/schema.ts';
import { SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';

const deletionSchema = z.object({
  account_id: z.string(),
  /** The tasks that this one took the place of. */
  former: z.array(z.string()).default([]),
  is_deleted: z.boolean().default(false),
});

/** Deletes tasks at the service, and announces it once in the thread. `runDue`: begins the jobs that are due. */
export function taskDeletion(deps: RelayDeps, runDue: () => void) {
  /** Jobs that a crash has interrupted, or the service has refused, are repeated for a week. */
  const jobs: JobKind = {
    kind: JOB_KIND.taskDeletion,
    giveUpAfterMs: 7 * 24 * 60 * 60_000,
    perform: deleteAndTell,
    onGivenUp: async (job, lease) => {
      const { is_deleted } = deletionSchema.parse(job.payload);
      if (!is_deleted) await tell(job, strings.deletionAbandoned, lease);
    },
  };

  /** Asks for the deletion of a thread's task with this id; returns what the person is told. Throws a StoreError. */
  async function deleteTask(asked: ThreadKey & { task: string; person: string }): Promise<string> {
    const { task, person, ...thread } = asked;
    const { workspace } = thread;
    if (deps.workspace(workspace) === undefined) return strings.tasks.notFound;
    const row = await deps.store.tasks.get(thread);
    if (row?.task_id !== task)
      return (await isAsked(thread, task)) ? strings.tasks.deleting : strings.tasks.notFound;
    const refusal =
      (await taskUseRefusal(deps, row, { person, control: 'task_delete' }))?.sentence ??
      (await controlRefusal(deps, { ...thread, person, control: 'task_delete', isInView: true }));
    if (refusal !== undefined) return refusal;
    if (await isAccountGone({ workspace, account_id: row.account_id })) return strings.tasks.accountGone;
    if ((await deps.store.taskDeletions.request(thread, task, person)) === 'busy') return strings.tasks.busy;
    runDue();
    return strings.tasks.deleting;
  }

  /** Whether the account's key is gone for good; a key that cannot be decrypted now may come back. */
  async function isAccountGone(key: { workspace: string; account_id: string }): Promise<boolean> {
    if (key.account_id === SETTINGS_ACCOUNT) return false;
    return ((await deps.store.accounts.get(key))?.encrypted_api_key ?? null) === null;
  }

  /** Whether a task waits for its deletion: this is a second press, or one in an old view. */
  async function isAsked(thread: ThreadKey, task: string): Promise<boolean> {
    return (await deps.store.jobs.get({ ...thread, kind: JOB_KIND.taskDeletion, key: task })) !== undefined;
  }

  /** Deletes at the service, and tells the thread once the outcome is final. */
  async function deleteAndTell(job: Job, lease: Lease): Promise<JobOutcome> {
    const { account_id, former, is_deleted } = deletionSchema.parse(job.payload);
    const key = { workspace: job.workspace, account_id };
    try {
      if (!is_deleted) {
        for (const id of [...former, job.key]) await deleteAtService(account_id, id, lease.signal);
        await deps.store.taskDeletions.markDeleted(job);
        deps.log.info({ task: job.key }, 'task deleted');
      }
    } catch (error) {
      if (!(error instanceof AccountGone) || !(await isAccountGone(key))) throw error;
      return tell(job, strings.deletionImpossible, lease);
    }
    return tell(job, strings.taskDeleted(job.person), lease);
  }

  async function tell(job: Job, text: string, lease: Lease): Promise<JobOutcome> {
    const orPrivately = strings.noticeNotPosted(job.channel, text);
    return postJobNotice(deps, job, lease, { key: `${job.key}/deleted`, text, orPrivately });
  }

  /** A task that the service no longer has counts as deleted. Throws an AgentError; AccountGone if the key is gone. */
  async function deleteAtService(account: string, task: string, signal: AbortSignal): Promise<void> {
    const isGone = (error: unknown) => error instanceof AgentNotFoundError && !(error instanceof AccountGone);
    await deps.agent(account).deleteTask(task, { signal }).catch(valueIf(undefined, isGone));
  }

  return { jobs, deleteTask };
}
