import { type HomeActor, isAdminNow } from '../relay/access/admin-check.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import type { ViewBlock } from '../render/blocks/view-blocks.ts';

/** A part of the Home tab that only admins see. */
export interface AdminSection {
  buildSection(workspace: string): Promise<readonly ViewBlock[]>;
}

/** The parts of a person's Home tab that only admins see; none for others. */
export async function visibleAdminSections(
  deps: Pick<RelayDeps, 'workspace'>,
  actor: HomeActor,
  sections: readonly AdminSection[],
): Promise<readonly ViewBlock[]> {
  if (!(await isAdminNow(deps, actor))) return [];
  const shown = await Promise.all(sections.map((section) => section.buildSection(actor.workspace)));
  return shown.flat();
}
