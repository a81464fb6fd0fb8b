import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { resultMessages } from '../../render/messages/result-list.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { permittedTurn } from '../access/control-permission.ts';
import type { ControlOutcome, ControlRequest } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { sendEphemeral } from '../runtime/ephemeral-messages.ts';
import { toShownResult } from './result-posts.ts';

/** Shows the person who asks new links to a turn's results; only they see them. Throws a SlackError. */
export async function sendFreshLinks(deps: RelayDeps, request: ControlRequest): Promise<ControlOutcome> {
  const { workspace, person } = request;
  const { store } = deps;
  const turn = await permittedTurn(deps, request, 'fresh_links', true);
  if (typeof turn === 'string') return turn;
  const { id, channel, thread_ts } = turn;
  const thread = await store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return 'unknown';
  const claimed = await store.results.ofThread(turn);
  try {
    const all = await deps.agent(thread.account_id).allResults(taskId);
    const results = all.filter((result) => claimed.get(result.id)?.turn_id === id);
    if (results.length === 0) return 'gone';
    for (const message of resultMessages(results.map((result) => toShownResult(result))))
      await sendEphemeral(deps, { workspace, channel, person, threadTs: thread_ts }, message);
    return 'done';
  } catch (error) {
    if (error instanceof AgentNotFoundError) return 'gone';
    if (!(error instanceof AgentError)) throw error;
    deps.log.warn({ err: error, turn: id }, "could not read a turn's results for fresh links");
    return 'away';
  }
}
