import { databaseNow } from '../../calls/clocks.ts';
import * as strings from '../../render/strings/index.ts';
import { hasSettled, isAtService } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { isBotId } from '../runtime/incoming-message.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';
import { postOnce } from '../runtime/unknown-outcome.ts';
import { cancelRun, cancelRunInDoubt } from './run-cancellation.ts';
import type { TurnContext } from './turn-context.ts';

/** Stops the run of a turn whose thread is unreachable, and tries to tell its asker in a direct message. */
export async function stopRunAndTellAsker(context: TurnContext): Promise<void> {
  const { deps, workspace, lease, turn } = context;
  const about = { workspace: workspace.id, turn: turn.id };
  const retry = <T>(step: () => Promise<T>) => withRetry(context, step, { about });
  await cancelRunInDoubt(context, retry);
  if (isAtService(turn) && !hasSettled(turn)) await cancelRun(deps, turn, retry);
  // No row holds this intent: an earlier process may have told the asker since the turn began. The calls of that
  // process ended with its lease, so that the direct message is looked for without a wait for them.
  const intent = {
    at: new Date(Math.min(turn.started_at.getTime(), databaseNow() - workspace.callLifetimeMs)),
    record: async () => {
      // A retry looks for the message of this call, once the call has surely ended.
      intent.at = new Date(databaseNow());
    },
    ifNoEffect: async () => undefined,
  };
  const tellAsker = async () => {
    // The turn may have been reassigned to another person's earlier message since it was read.
    const latest = (await deps.store.turns.get(turn.workspace, turn.id)) ?? turn;
    if (isBotId(latest.asked_by)) return;
    const channel = await workspace.posting.openDm(latest.asked_by, lease);
    // Whoever deleted the question expects no reply.
    if ((await deps.store.messages.get(messageKeyOf(latest)))?.state === 'withdrawn') return;
    const message = async () => ({ text: strings.replyUnreachable(turn.channel) });
    await postOnce(workspace, { channel, key: `${turn.id}/asker`, kind: 'notice', message }, intent, lease);
  };
  const telling = { ...about, step: 'telling the asker that the thread is unreachable' };
  await withRetry(context, tellAsker, { about: telling, orElse: () => undefined });
}
