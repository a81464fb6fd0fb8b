import type { ViewBlock } from '../reply/views/view-blocks.ts';
import type { RelayParts } from './context.ts';

/** Somebody who looks at a Home tab, or presses there. */
export interface Visitor {
  workspace: string;
  person: string;
}

/** Whether a person is an admin or owner of the workspace, by what Slack says now. Unknown means no. */
export async function isAdminNow(
  parts: Pick<RelayParts, 'workspace'>,
  { workspace, person }: Visitor,
  signal?: AbortSignal,
): Promise<boolean> {
  const people = parts.workspace(workspace)?.people;
  if (people === undefined) return false;
  people.forget(person);
  const { kind, isAdmin } = await people.person(person, signal);
  return kind === 'member' && isAdmin;
}

/** A part of the Home tab that only admins see. */
export interface AdminSection {
  section(workspace: string): Promise<readonly ViewBlock[]>;
}

/** The parts of a person's Home tab that only admins see; nothing for others. */
export async function adminSections(
  parts: Pick<RelayParts, 'workspace'>,
  visitor: Visitor,
  sections: readonly AdminSection[],
): Promise<readonly ViewBlock[]> {
  if (!(await isAdminNow(parts, visitor))) return [];
  const shown = await Promise.all(sections.map((one) => one.section(visitor.workspace)));
  return shown.flat();
}
