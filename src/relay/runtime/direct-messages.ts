import { randomUUID } from 'node:crypto';
import type { WorkspaceActor } from './actors.ts';
import type { RelayDeps } from './deps.ts';

/** Sends a person a direct message; nothing where the app is no longer installed. Throws a SlackError. */
export async function sendDirectMessage(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
  text: string,
): Promise<void> {
  const posting = deps.workspace(workspace)?.posting;
  if (posting === undefined) return;
  const channel = await posting.openDm(person);
  await posting.post({ channel, message: { text }, key: randomUUID(), kind: 'notice' });
}
