import { readProject } from '../../agent/account-probe.ts';
import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import * as strings from '../../render/strings/index.ts';
import type { Thread } from '../../store/schema.ts';
import { AccountGone } from '../installations/account-check.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { Lease } from '../runtime/lease.ts';
import { sleepWithLease, throwIfInterrupted } from '../runtime/retry.ts';
import { TurnEnded } from '../runtime/turn-errors.ts';

/** How long one turn has the right to make a channel's project, in ms: longer than the call may take. */
const CLAIM_MS = 15_000;
const CLAIM_RETRY_DELAY_MS = 250;

/**
 * The channel's project, found or made. Of two threads that need it at once one makes it and the other waits.
 * The service lists no projects, so one whose creation had an unknown outcome cannot be found again: it is named
 * in the log and another is made.
 */
async function ensureChannelProject(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: Thread,
  turnId: string,
  lease: Lease,
): Promise<string> {
  const { store, log } = deps;
  const key = { workspace: thread.workspace, channel: thread.channel, account: thread.account };
  for (;;) {
    throwIfInterrupted(lease);
    const claim = await store.projects.claim(key, turnId, CLAIM_MS);
    if (claim.kind === 'known') return claim.projectId;
    if (claim.kind === 'taken') {
      await sleepWithLease(CLAIM_RETRY_DELAY_MS, lease);
      continue;
    }
    if (claim.orphaned) {
      log.warn(
        { ...key, code: 'orphaned_project' },
        'A project may have been made at the service whose answer was lost; it stays there unused.',
      );
    }
    const body = await projectDetails(workspace, thread);
    // Reading the channel may have waited for its lane, and another turn may have claimed the project meanwhile.
    if (!(await store.projects.intend(key, turnId, CLAIM_MS))) continue;
    try {
      const project = await deps.agent(thread.account).createProject(body, { guard: lease });
      if (await store.projects.bind(key, turnId, project.id)) {
        log.info({ ...key, project: project.id }, 'project made');
        return project.id;
      }
      log.warn(
        { ...key, project: project.id, code: 'orphaned_project' },
        'A project was made too late, when the channel had another; it stays there unused.',
      );
    } catch (error) {
      const wasNotCreated = error instanceof AgentError && error.outcome !== 'unknown';
      // After the lease the claim may be that of the process that holds the turn now.
      if (wasNotCreated && lease.remainingMs() > 0) await store.projects.release(key, turnId);
      throw error;
    }
  }
}

/**
 * The project that a thread's files and its task go to: the channel's when the thread first needed one. A channel may
 * get another project later, which is for its new threads.
 */
export async function ensureThreadProject(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: Thread,
  turnId: string,
  lease: Lease,
): Promise<string> {
  if (thread.project_id !== null) return thread.project_id;
  const projectId = await ensureChannelProject(deps, workspace, thread, turnId, lease);
  return deps.store.threads.bindProject(thread, projectId);
}

/**
 * Lets a thread without a task forget a project that the service does not know any more, and its channel, too, where
 * the bot made it. False where the service knows it, or a task may have been started there. Throws TurnEnds where
 * people chose the project for the channel: another one is for them to choose.
 */
export async function forgetMissingProject(
  deps: RelayDeps,
  { workspace, channel, root, account, project_id: project }: Thread,
): Promise<boolean> {
  if (project === null || (await projectExists(deps.agent(account), project))) return false;
  const { store, log } = deps;
  const thread = { workspace, channel, root };
  const forgotten = await store.transaction(async ({ threads, turns, projects }) => {
    if (!(await threads.leaveProject(thread, project))) return 'not';
    await turns.leaveFilesBehind(thread);
    return (await projects.detach({ workspace, channel, account }, project)) ? 'whole' : 'chosen';
  });
  if (forgotten === 'not') return false;
  log.warn(
    { ...thread, account, project, code: 'lost_project' },
    'The service does not know a project any more.',
  );
  if (forgotten === 'chosen') throw new TurnEnded('refused', strings.projectNotFound);
  return true;
}

async function projectExists(agent: AgentClient, projectId: string): Promise<boolean> {
  try {
    await readProject(agent, projectId);
    return true;
  } catch (error) {
    if (error instanceof AgentNotFoundError && !(error instanceof AccountGone)) return false;
    throw error;
  }
}

/** What a channel's project is called: its name and purpose; a person's name for a DM. */
export async function projectDetails(
  workspace: WorkspaceClient,
  thread: Pick<Thread, 'channel' | 'starter'>,
): Promise<{ title: string; description: string }> {
  if (isDirectChannel(thread.channel)) {
    const name = await workspace.people.personName(thread.starter);
    return { title: `Direct messages with ${name}`, description: '' };
  }
  const channel = await workspace.people.channel(thread.channel);
  return { title: channel.name ?? thread.channel, description: channel.purpose };
}
