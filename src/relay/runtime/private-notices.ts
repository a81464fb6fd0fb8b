import { randomUUID } from 'node:crypto';
import { plainMessage } from '../../render/blocks/slack-blocks.ts';
import { ChannelGoneError } from '../../slack/errors.ts';
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

/**
 * Like `sendEphemeral`, for a message that may be lost: it returns at once and never throws. Where the bot or the person is not
 * in the channel, they read its text in a direct message.
 */
export function trySendEphemeral(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  target: EphemeralTarget,
  content: string | SlackMessage,
): void {
  const sent = sendEphemeral(deps, target, content).catch((error: unknown) => {
    if (!(error instanceof ChannelGoneError)) throw error;
    // Its buttons belong to the channel.
    const text = typeof content === 'string' ? content : { text: content.text };
    return sendDirectMessage(deps, target, text, target.signal);
  });
  inBackground(sent, deps.log, 'could not tell a person something that only they see');
}

/**
 * Sends a person a direct message, a sentence as text; nothing if the app is no longer installed, or once `signal` is
 * aborted. Throws a SlackError.
 */
export async function sendDirectMessage(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
  content: string | SlackMessage,
  signal?: AbortSignal,
): Promise<void> {
  const posting = deps.workspace(workspace)?.posting;
  if (posting === undefined) return;
  const channel = await posting.openDm(person);
  if (signal?.aborted === true) return;
  const message = typeof content === 'string' ? plainMessage(content) : content;
  await posting.post({ channel, message, key: randomUUID(), kind: 'notice', signal });
}
