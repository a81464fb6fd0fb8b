import type { WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';

/** Whether Slack says now that a person is an admin or owner of the workspace; false if Slack does not say. */
export async function isAdminNow(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
  signal?: AbortSignal,
): Promise<boolean> {
  const people = deps.workspace(workspace)?.people;
  if (people === undefined) return false;
  people.invalidate(person);
  const { kind, isAdmin } = await people.person(person, signal);
  return kind === 'member' && isAdmin;
}
