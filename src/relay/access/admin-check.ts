import type { RelayDeps } from '../runtime/deps.ts';

/** A person in a workspace. */
export interface HomeActor {
  workspace: string;
  person: string;
}

/** Whether Slack says now that a person is an admin or owner of the workspace. Unknown means no. */
export async function isAdminNow(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: HomeActor,
  signal?: AbortSignal,
): Promise<boolean> {
  const people = deps.workspace(workspace)?.people;
  if (people === undefined) return false;
  people.invalidate(person);
  const { kind, isAdmin } = await people.person(person, signal);
  return kind === 'member' && isAdmin;
}
