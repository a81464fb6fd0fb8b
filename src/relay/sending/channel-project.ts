import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job, Thread, Turn } from '../../store/schema.ts';
import { mayBeAtService } from '../../store/threads/turn-phase.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { projectDenial } from '../access/rights.ts';
import { AccountGone } from '../installations/service-accounts.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import { type Lease, sleepWithLease, throwIfInterrupted } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';

/** How long a creation may take (ms): after conflicts, its last call, of two minutes, begins up to 90 s later. */
const CREATE_CALL_MS = 220_000;
const CREATE_POLL_INTERVAL_MS = 250;

/**
 * The channel's project, created if it has none. Of two threads that need it at once, one creates it and the
 * other waits. The service cannot list projects, so after a creation with an unknown outcome the log names
 * the possible orphan, and another project is created. Throws TurnEnded if it rejects a new one.
 */
async function ensureChannelProject({ deps, workspace, lease }: ThreadWork, thread: Thread, turnId: string) {
  const { store, log } = deps;
  const key = { workspace: thread.workspace, channel: thread.channel, account_id: thread.account_id };
  const logOrphan = (sentence: string, project?: string) =>
    log.warn({ ...key, project, code: 'orphaned_project' }, sentence);
  let details: Awaited<ReturnType<typeof projectDetails>> | undefined;
  for (;;) {
    throwIfInterrupted(lease);
    const projectId = await store.projects.projectIdOf(key);
    if (projectId !== undefined) return projectId;
    // Before the intent: reading the channel may wait for a rate limit.
    details ??= await projectDetails(workspace, thread);
    const intent = await store.projects.intend(key, turnId, CREATE_CALL_MS);
    if (intent === 'taken') {
      await sleepWithLease(CREATE_POLL_INTERVAL_MS, lease);
      continue;
    }
    const doubt = 'creating a project failed with an unknown outcome; the service may have an unused project';
    if (intent === 'orphaned') logOrphan(doubt);
    const agent = deps.agent(thread.account_id);
    const { id } = await agent.createProject(details, { guard: lease }).catch(async (error: unknown) => {
      const wasNotCreated = error instanceof AgentError && error.outcome !== 'unknown';
      // Without the lease the intent may belong to the process that has the turn now.
      if (lease.remainingMs() > 0) await store.projects.release(key, turnId, wasNotCreated);
      if (error instanceof AgentRejectedError)
        throw new TurnEnded('refused', strings.newProjectRefused(error.reason), { cause: error });
      throw error;
    });
    if (await store.projects.bind(key, turnId, id)) {
      log.info({ ...key, project: id }, 'project created');
      return id;
    }
    logOrphan('a project was created after the channel got another; it stays at the service unused', id);
  }
}

/**
 * The thread's project: its own or, when the thread first needs one, its channel's, which is created if it has none.
 * Throws TurnEnded if people chose a project that is another channel's, and may not use it here now.
 */
export async function ensureProject(work: ThreadWork, thread: Thread, turn: Turn): Promise<string> {
  const project = thread.project_id ?? (await ensureChannelProject(work, thread, turn.id));
  // A message that may have been sent is followed to its end.
  if (mayBeAtService(turn)) return project;
  const denial = await projectDenial(work.deps, thread, project);
  if (denial !== undefined) throw new TurnEnded('refused', strings.projectNotAllowed[denial]);
  return project;
}

/**
 * Detaches a thread without a task, and its channel, from a project that the service no longer knows. Throws
 * TurnEnded if people chose the channel's project, because they must choose another. Returns false if the thread
 * stays: it has no project, the project exists, or a task may have been started in the project.
 */
export async function forgetMissingProject(
  deps: RelayDeps,
  { workspace, channel, thread_ts, account_id, project_id }: Thread,
): Promise<boolean> {
  if (project_id === null || (await projectExists(deps.agent(account_id), project_id))) return false;
  const { store, log } = deps;
  const thread = { workspace, channel, thread_ts };
  const outcome = await store.transaction(async ({ threads, keptFiles, projects }) => {
    if (!(await threads.leaveProject(thread, project_id))) return 'not_left';
    await keptFiles.leaveBehind(thread);
    const isDetached = await projects.detach({ workspace, channel, account_id }, project_id);
    return isDetached ? 'detached' : 'chosen_by_people';
  });
  if (outcome === 'not_left') return false;
  const lost = { ...thread, account: account_id, project: project_id, code: 'lost_project' };
  log.warn(lost, 'the service no longer knows a project');
  if (outcome === 'chosen_by_people') throw new TurnEnded('refused', strings.projectNotFound);
  return true;
}

/** Whether the service knows a project. Throws an AgentError if it does not answer, or if the account is gone. */
export async function projectExists(agent: AgentClient, projectId: string): Promise<boolean> {
  const isGone = (error: unknown) => error instanceof AgentNotFoundError && !(error instanceof AccountGone);
  const finding = agent.requireProject(projectId);
  return await finding.then(() => true).catch(valueIf(false, isGone));
}

/** Title and description of a channel's project: its name and purpose, or the person of a direct message. */
async function projectDetails(workspace: WorkspaceClient, thread: Thread) {
  if (isDirectChannel(thread.channel)) {
    const name = await workspace.people.personName(thread.started_by);
    return { title: `Direct messages with ${name}`, description: '' };
  }
  const channel = await workspace.people.channel(thread.channel);
  return { title: channel.name ?? thread.channel, description: channel.purpose };
}

/**
 * The setting `sync_project_name` after people chose a `project` in a form ('' if none), or typed `texts`: a title or
 * description for the one that they have. A chosen project sets it to null, the default: only a project that was made for
 * the channel is named like it. Typed texts turn it off, so that they stay. Else {}: no change.
 */
export function nameSyncOnceChosen(project: string, texts: object): Partial<Settings> {
  if (project !== '') return { sync_project_name: null };
  return Object.keys(texts).length > 0 ? { sync_project_name: false } : {};
}

/** Jobs that give projects their channels' names and purposes, if the channels' settings ask for it. */
export function projectNameJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.projectName,
    timeoutMs: 45_000,
    // A project that was given up keeps an earlier name, until the channel's name changes again.
    onGivenUp: 'counted',
    perform: (job, lease) => renameProject(deps, job, lease),
  };
}

/** Whether people surely renamed a project: the service tells its name, which is none that the bot may have given it. */
async function hasOtherName(
  agent: AgentClient,
  project: string,
  givenByBot: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  // A project is read by an update that changes nothing, which some services reject.
  const isRejected = (error: unknown) => error instanceof AgentRejectedError;
  const current = await agent.readProject(project, { signal }).catch(valueIf(null, isRejected));
  return current !== null && current.title !== '' && !givenByBot.includes(current.title);
}

/** Gives a channel's project the channel's name and purpose, unless people turned that off or named the project. */
async function renameProject(deps: RelayDeps, job: Job, { signal }: Lease): Promise<JobOutcome> {
  const { workspace, channel, key: account_id } = job;
  const place = { workspace, channel, account_id };
  const project = await deps.store.projects.projectIdOf(place);
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'later';
  if (project === undefined) return 'done';
  // A project that the channel may not use any more is not renamed on its behalf.
  if ((await projectDenial(deps, job, project, signal)) !== undefined) return 'done';
  slack.people.invalidate(channel);
  const { name, previousNames, purpose } = await slack.people.channel(channel, signal);
  if (name === undefined) return 'later'; // Slack does not say it now.
  const agent = deps.agent(account_id);
  try {
    const { sync_project_name: setByPeople } = await deps.store.settings.get(workspace, channel);
    const isWanted = setByPeople ?? !(await deps.store.projects.isChosen(place));
    // After this job was asked for, people turned the names off, or chose another project.
    if (!isWanted) return 'done';
    const givenByBot = [channel, name, ...(previousNames ?? [])];
    // If people turned the names on, or Slack tells no earlier ones, the channel's name replaces every other name.
    const mayBeNamedByPeople = setByPeople === null && previousNames !== undefined;
    if (mayBeNamedByPeople && (await hasOtherName(agent, project, givenByBot, signal))) return 'done';
    await agent.updateProject(project, { title: name, description: purpose }, { signal });
  } catch (error) {
    if (!(error instanceof AgentNotFoundError || error instanceof AgentRejectedError)) throw error;
    const failure = 'a project cannot be renamed like its channel';
    deps.log.warn({ err: error, workspace, channel, project }, failure);
    return 'given_up';
  }
  deps.log.info({ workspace, channel, project }, 'project renamed like its channel');
  return 'done';
}
