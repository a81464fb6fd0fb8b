import * as strings from '../../render/strings/index.ts';
import { END_PART } from '../../store/threads/posts.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import type { TurnContext } from './turn-context.ts';

/**
 * A turn that took longer than this (ms) ends with a post that mentions the asker: edits notify nobody. So does one whose
 * reply went on above an answer of theirs.
 */
const LONG_TURN_MS = 120_000;

/** Names whose questions the reply answers, in a thread where several people ask; `writers` wrote during its run. */
export async function nameAskers(context: TurnContext, writers: ReadonlySet<string>): Promise<void> {
  const { turn, workspace, state } = context;
  const hasOthers = (await context.participants()).some((person) => person !== turn.asked_by);
  if (!hasOthers && writers.size === 0) return;
  const asker = await workspace.people.personName(turn.asked_by);
  const names = [...new Set([asker, ...writers])];
  if (hasOthers || names.length > 1) state.update({ askers: strings.inAnswerTo(names) });
}

/** Mentions the asker at the end of a long turn, unless they stopped it; where a list of results stands below, of that alone. */
export async function mentionAsker(context: TurnContext, hasResults: boolean): Promise<void> {
  const { deps, turn } = context;
  const durationMs = Date.now() - turn.started_at.getTime();
  if (durationMs <= LONG_TURN_MS && (hasResults || !context.state.hasGoneOn)) return;
  const { outcome: end, workspace, id, asked_by } = turn;
  const requester = async () => (await deps.store.turns.get(workspace, id))?.stop_requested_by;
  // Who stopped it knows.
  if (end === 'cancelled' && (await context.withRetry(requester)) === asked_by) return;
  // A bot is not mentioned: it has no user.
  const asker = isDirectChannel(turn.channel) || isBotId(asked_by) ? undefined : asked_by;
  const answered = context.state.endsWithQuestion ? 'asks' : 'done';
  const outcome = end === 'length' || end === 'failed' || end === 'cancelled' ? end : answered;
  const line = strings.endMention(asker, outcome, durationMs);
  await context.withRetry(() => context.reply.posts.postNotice(END_PART, line));
}
