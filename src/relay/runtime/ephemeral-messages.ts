import type { Logger } from 'pino';
import type { Posting } from '../../slack/posting.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import type { ChannelActor } from './actors.ts';

/** Whom to tell something that only they see, and where. */
export interface EphemeralTarget extends ChannelActor {
  /** Undefined: in the channel itself. */
  threadTs: string | undefined;
}

/** What telling needs; a `RelayParts` will do. */
export interface EphemeralDeps {
  readonly log: Logger;
  workspace(id: string): { posting: Pick<Posting, 'postEphemeral'> } | undefined;
}

/** Tells one person something; nobody where we are not in the workspace any more. Throws a SlackError. */
export async function sendEphemeral(
  deps: EphemeralDeps,
  { workspace, channel, person: user, threadTs }: EphemeralTarget,
  content: string | SlackMessage,
): Promise<void> {
  const message = typeof content === 'string' ? { text: content } : content;
  await deps.workspace(workspace)?.posting.postEphemeral({ channel, user, threadTs, message });
}

/** Like `tell`, for what may be left out: nothing waits for it, and it never throws. */
export function trySendEphemeral(
  deps: EphemeralDeps,
  target: EphemeralTarget,
  content: string | SlackMessage,
): void {
  sendEphemeral(deps, target, content).catch((error: unknown) => {
    deps.log.debug({ err: error }, 'what only one person was to see is left out');
  });
}
