import * as strings from '../../render/strings/index.ts';
import { END_PART } from '../../store/threads/posts.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import type { TurnContext } from './turn-context.ts';

/** A turn that took longer than this (ms) ends with a post that mentions the asker: edits notify nobody. */
const LONG_TURN_MS = 120_000;

/** Says in the reply whose questions it answers, if several people ask in the thread; `writers` wrote during its run. */
export async function nameAskers(context: TurnContext, writers: ReadonlySet<string>): Promise<void> {
  const { turn, workspace, state } = context;
  const hasOthers = (await context.participants()).some((person) => person !== turn.asked_by);
  if (!hasOthers && writers.size === 0) return;
  const asker = await workspace.people.personName(turn.asked_by);
  const names = [...new Set([asker, ...writers])];
  if (hasOthers || names.length > 1) state.update({ askers: strings.inAnswerTo(names) });
}

/** Mentions the asker below a reply whose end they may not notice; `hasResults`: a list of results was posted below it. */
export async function mentionAsker(context: TurnContext, hasResults: boolean): Promise<void> {
  const { deps, turn } = context;
  const durationMs = Date.now() - turn.started_at.getTime();
  const isOutOfSight = context.state.hasGrownAboveMessage && !hasResults;
  if (durationMs <= LONG_TURN_MS && !isOutOfSight) return;
  const { outcome: end, workspace, id, asked_by } = turn;
  const stopRequester = async () => (await deps.store.turns.get(workspace, id))?.stop_requested_by;
  // An asker who stopped the turn knows that it is over.
  if (end === 'cancelled' && (await context.withRetry(stopRequester)) === asked_by) return;
  // A bot is not mentioned: it has no user.
  const asker = isDirectChannel(turn.channel) || isBotId(asked_by) ? undefined : asked_by;
  const answered = context.state.endsWithQuestion ? 'asks' : 'done';
  const outcome = end === 'length' || end === 'failed' || end === 'cancelled' ? end : answered;
  const line = strings.endMention(asker, outcome, durationMs);
  await context.withRetry(() => context.reply.posts.postNotice(END_PART, line));
}
