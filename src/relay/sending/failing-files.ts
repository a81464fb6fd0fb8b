import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { RelayLimits } from '../../limits.ts';
import type { FileReason } from '../../render/strings/index.ts';
import { FileUnavailableError } from '../../slack/downloadable-files.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { FailingTime, RefusalDoubt } from '../runtime/retry-and-giving-up.ts';
import { projectExists } from './channel-project.ts';

/** The service's answers to an upload that may be about the file, or about all its calls. */
const DOUBTED = new Set(['not_found', 'not_understood', 'unavailable']);

/** Why a file is left out after this error; undefined if it is tried again, or the error is not about the file. */
export type FilePatience = ReturnType<typeof filePatience>;

/**
 * How long one file may fail before its message goes without it: `badThingMs` where Slack does not deliver it although
 * other calls succeed; half as long as the message itself where the service fails at it, or denies to know it although it
 * knows the project.
 */
export function filePatience({ refusalMs, badThingMs }: RelayLimits, workspace: WorkspaceClient) {
  const failing = new FailingTime();
  const doubt = new RefusalDoubt({ refusalMs: refusalMs / 2, badThingMs: badThingMs / 2 });
  return async (error: unknown, agent: AgentClient, projectId: string): Promise<FileReason | undefined> => {
    if (error instanceof FileUnavailableError) {
      const failedMs = await failing.count((at) => workspace.wasThereAfter(at));
      return failedMs < badThingMs ? undefined : 'broken_off';
    }
    if (!(error instanceof AgentError) || !DOUBTED.has(error.code)) return undefined;
    const mayBeOfProject = error.code !== 'not_understood';
    if (mayBeOfProject && !(await projectExists(agent, projectId))) return undefined;
    const wait = await doubt.waitAfter(error, () => agent, undefined);
    return wait === undefined ? 'service_failed' : undefined;
  };
}
