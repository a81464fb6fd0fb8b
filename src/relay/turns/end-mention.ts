import { databaseNow } from '../../calls/clocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import { END_PART } from '../../store/threads/posts.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import type { TurnContext } from './turn-context.ts';

/** A turn that took longer than this (ms) ends with a post that mentions the asker: edits notify nobody. */
const LONG_TURN_MS = 120_000;

/** Posts how a turn ended, if its asker may miss that; `hasResults`: a list of results is below its reply. */
export async function postEndMention(
  context: TurnContext,
  outcome: TurnOutcome | null,
  { hasResults }: { hasResults: boolean },
): Promise<void> {
  const { deps, turn } = context;
  const durationMs = databaseNow() - turn.started_at.getTime();
  const isOutOfSight = context.state.hasGrownAboveMessage && !hasResults;
  if (durationMs <= LONG_TURN_MS && !isOutOfSight) return;
  const { workspace, id, asked_by } = turn;
  const stopRequester = async () => (await deps.store.turns.get(workspace, id))?.stop_requested_by;
  // An asker who stopped the turn knows that it is over.
  if (outcome === 'cancelled' && (await context.withRetry(stopRequester)) === asked_by) return;
  // In a direct conversation nobody is mentioned, and a bot never is: it has no user.
  const asker = isDirectChannel(turn.channel) || isBotId(asked_by) ? undefined : asked_by;
  const answered = context.state.endsWithQuestion ? 'asks' : 'done';
  const hasFailed = outcome === 'failed' || outcome === 'refused' || outcome === 'abandoned';
  const end = outcome === 'length' || outcome === 'cancelled' ? outcome : hasFailed ? 'failed' : answered;
  const line = strings.endMention(asker, end, durationMs);
  await context.withRetry(() => context.reply.posts.postNotice(END_PART, line));
}
