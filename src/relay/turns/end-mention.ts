import { databaseNow } from '../../calls/clocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn, TurnOutcome } from '../../store/schema.ts';
import { BACKGROUND_END_PART, END_PART } from '../../store/threads/posts.ts';
import { closingAt } from '../access/access-policy.ts';
import { IdempotentPosts } from '../replies/idempotent-posts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
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
  const answered = context.state.endsWithQuestion ? 'asks' : 'done';
  const hasFailed = outcome === 'failed' || outcome === 'refused' || outcome === 'abandoned';
  const end = outcome === 'length' || outcome === 'cancelled' ? outcome : hasFailed ? 'failed' : answered;
  const line = strings.endMention(mentionedAsker(turn), end, durationMs);
  await context.withRetry(() => context.reply.posts.postNotice(END_PART, line));
}

/** Posts how the work after a turn's answer ended: the line about it is edited, which notifies nobody. Throws a SlackError. */
export async function postBackgroundEndMention(
  work: ThreadWork,
  turn: Turn,
  end: 'workDone' | 'workFailed' | 'cancelled',
): Promise<void> {
  const { deps, lease } = work;
  // They may have stopped it since the turn was read.
  const latest = end === 'cancelled' ? await deps.store.turns.get(turn.workspace, turn.id) : undefined;
  if (latest?.stop_requested_by === turn.asked_by) return;
  if ((await closingAt(deps, turn, lease.signal)) !== undefined) return;
  const line = strings.endMention(mentionedAsker(turn), end, databaseNow() - turn.started_at.getTime());
  await new IdempotentPosts(work, turn).postNotice(BACKGROUND_END_PART, line);
}

/** In a direct conversation nobody is mentioned. A bot has no user, and a person who was erased no id. */
function mentionedAsker({ channel, asked_by: asker }: Turn): string | undefined {
  return isDirectChannel(channel) || isBotId(asker) || asker === '' ? undefined : asker;
}
