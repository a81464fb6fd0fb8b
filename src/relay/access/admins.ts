import type { ViewBlock } from '../../render/blocks/view-blocks.ts';
import type { RelayDeps } from '../runtime/deps.ts';

/** Somebody who looks at a Home tab, or presses there. */
export interface HomeActor {
  workspace: string;
  person: string;
}

/** Whether a person is an admin or owner of the workspace, by what Slack says now. Unknown means no. */
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

/** A part of the Home tab that only admins see. */
export interface AdminSection {
  buildSection(workspace: string): Promise<readonly ViewBlock[]>;
}

/** The parts of a person's Home tab that only admins see; nothing for others. */
export async function visibleAdminSections(
  deps: Pick<RelayDeps, 'workspace'>,
  actor: HomeActor,
  sections: readonly AdminSection[],
): Promise<readonly ViewBlock[]> {
  if (!(await isAdminNow(deps, actor))) return [];
  const shown = await Promise.all(sections.map((adminSection) => adminSection.buildSection(actor.workspace)));
  return shown.flat();
}
