import { randomUUID } from 'node:crypto';
import { plainMessage } from '../../render/blocks/slack-blocks.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import type { ChannelActor, WorkspaceActor } from './control-request.ts';
import type { RelayDeps } from './deps.ts';
import { isBotId } from './incoming-message.ts';
import { inBackground } from './poller.ts';

/** Whom to tell something that only they see, and where. */
export interface EphemeralTarget extends ChannelActor {
  /** Undefined: in the channel itself. */
  threadTs: string | undefined;
  /** Aborted once it need not be said any more. */
  signal?: AbortSignal | undefined;
}

/** Posts what only one person sees, a sentence as text; nothing for a bot, or if the app is gone. Throws a SlackError. */
export async function sendEphemeral(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, channel, person: user, threadTs, signal }: EphemeralTarget,
  content: string | SlackMessage,
): Promise<void> {
  if (isBotId(user)) return;
  const message = typeof content === 'string' ? plainMessage(content) : content;
  await deps.workspace(workspace)?.posting.postEphemeral({ channel, user, threadTs, message, signal });
}

/** Like `sendEphemeral`, for a message that may be lost: it returns at once and never throws. */
export function trySendEphemeral(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  target: EphemeralTarget,
  content: string | SlackMessage,
): void {
  inBackground(sendEphemeral(deps, target, content), deps.log, 'could not post an ephemeral message');
}

/**
 * Sends a person a sentence in a direct message, as text; nothing if the app is no longer installed, or once `signal` is
 * aborted. Throws a SlackError.
 */
export async function sendDirectMessage(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
  text: string,
  signal?: AbortSignal,
): Promise<void> {
  const posting = deps.workspace(workspace)?.posting;
  if (posting === undefined) return;
  const channel = await posting.openDm(person);
  if (signal?.aborted === true) return;
  await posting.post({ channel, message: plainMessage(text), key: randomUUID(), kind: 'notice', signal });
}
