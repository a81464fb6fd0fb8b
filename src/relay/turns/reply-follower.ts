import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/index.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { SETTLED_TASK_SHORT_MS } from '../replies/reply-reader.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { MidRunForwarding } from '../sending/mid-run-forwarding.ts';
import type { TurnContext } from './turn-context.ts';

/** A reply that has settled. */
export interface SettledReply {
  reply: AgentMessage;
  /** Whether another message was forwarded to its run. */
  hasForwarded: boolean;
  /** Whether the service settled only the task, and the reply may be incomplete. */
  endedWithTask: boolean;
}

/**
 * Follows a turn's reply until it has settled, and forwards the thread's waiting messages to a silent run; no forwarding
 * outlasts it. Throws TurnEnded where the task settles without a reply.
 */
export async function followReply(context: TurnContext): Promise<SettledReply> {
  const { deps, workspace, lease, state, reply, stopSignal } = context;
  const forwarding = new MidRunForwarding(deps, workspace, turnLocationOf(context.turn), lease, {
    stopSignal,
    onForwarded: (writer, notes) => {
      state.onForwarded(writer, notes);
      context.waitingReactions.cleanUp();
    },
    onPutBack: () => state.onPutBack(),
  });
  const readToEnd = async () => {
    const reader = await context.createReader((message, fingerprint) => {
      if (reply.unreachable !== undefined) throw reply.unreachable;
      state.onRead(message, fingerprint, deps.settings.silenceMs);
      if (state.silence !== undefined) forwarding.offer(state.silence);
    });
    reply.reader = reader;
    const settledMs = () => (stopSignal.aborted ? SETTLED_TASK_SHORT_MS : deps.settings.settledTaskMs);
    const found = await context.withRetry(() => reader.find(context.knownReply, settledMs));
    if (found === undefined)
      throw new TurnEnded(stopSignal.aborted ? 'cancelled' : 'failed', strings.emptyAnswer);
    if (context.turn.assistant_message_id === null) await context.record({ assistant_message_id: found.id });
    const settled = await context.withRetry(() => reader.readToEnd());
    if (reader.endedWithTask) deps.log.warn({ turn: context.turn.id }, 'a task settled without its reply');
    return { reply: settled, endedWithTask: reader.endedWithTask };
  };
  let settled: Omit<SettledReply, 'hasForwarded'>;
  try {
    settled = await readToEnd();
  } finally {
    await forwarding.stop();
  }
  return { ...settled, hasForwarded: forwarding.hasForwarded };
}
