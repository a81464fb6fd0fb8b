import { AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { PROJECT_NAME_JOB } from '../../store/projects/projects.ts';
import type { Job } from '../../store/schema.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import { projectDetails } from './channel-project.ts';

/** Jobs that give projects the names and purposes of their channels, where the channel's settings ask for it. */
export function projectNameJobs(deps: RelayDeps): JobKind {
  return {
    kind: PROJECT_NAME_JOB,
    share: 2,
    timeoutMs: 45_000,
    // Until the name changes again; until then the project keeps a name that it had.
    giveUpAfterMs: 24 * 60 * 60_000,
    onGivenUp: 'counted',
    perform: (job, lease) => renameProject(deps, job, lease),
  };
}

async function renameProject(deps: RelayDeps, job: Job, { signal }: Lease): Promise<JobOutcome> {
  const { workspace, channel, key: account_id } = job;
  const project = await deps.store.projects.projectIdOf({ workspace, channel, account_id });
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'later';
  if (project === undefined) return 'done';
  slack.people.invalidate(channel);
  const { kind } = await slack.people.channel(channel, signal);
  // Without a name from Slack the project would be named after the channel's id.
  if (kind === 'unknown') return 'later';
  const details = await projectDetails(slack, { channel, started_by: '' });
  try {
    await deps.agent(account_id).updateProject(project, details, { signal });
    deps.log.info({ workspace, channel, project }, 'project renamed like its channel');
  } catch (error) {
    if (!(error instanceof AgentNotFoundError || error instanceof AgentRejectedError)) throw error;
    deps.log.warn(
      { err: error, workspace, channel, project },
      'a project cannot be renamed like its channel',
    );
    return 'given_up';
  }
  return 'done';
}
