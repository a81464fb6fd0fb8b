import type { Logger } from 'pino';
import type { SlackMessage } from '../slack/message.ts';
import type { Posting } from '../slack/posting.ts';

/** Whom to tell something that only they see, and where. */
export interface TellingPlace {
  workspace: string;
  channel: string;
  person: string;
  /** Undefined: in the channel itself. */
  threadTs: string | undefined;
}

/** What telling needs; a `RelayParts` will do. */
export interface TellingParts {
  readonly log: Logger;
  workspace(id: string): { posting: Pick<Posting, 'ephemeral'> } | undefined;
}

/** Tells one person something; nobody where we are not in the workspace any more. Throws a SlackError. */
export async function tell(
  parts: TellingParts,
  { workspace, channel, person: user, threadTs }: TellingPlace,
  said: string | SlackMessage,
): Promise<void> {
  const message = typeof said === 'string' ? { text: said } : said;
  await parts.workspace(workspace)?.posting.ephemeral({ channel, user, threadTs, message });
}

/** Like `tell`, for what may be left out: nothing waits for it, and it never throws. */
export function tryToTell(parts: TellingParts, place: TellingPlace, said: string | SlackMessage): void {
  tell(parts, place, said).catch((error: unknown) => {
    parts.log.debug({ err: error }, 'what only one person was to see is left out');
  });
}
