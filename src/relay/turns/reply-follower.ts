import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import * as strings from '../../render/strings/index.ts';
import type { TurnLocation } from '../../store/schema.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import type { LiveReply } from '../replies/live-reply.ts';
import type { ReplyReader, ReplyReaderOptions } from '../replies/reply-reader.ts';
import type { ReplyState } from '../replies/reply-state.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-errors.ts';
import { MidRunForwarding } from '../sending/mid-run-forwarding.ts';

/** What a turn lends to the following of its answer. */
export interface FollowReplyOptions {
  state: Pick<ReplyState, 'onRead' | 'silence' | 'onForwarded' | 'onPutBack'>;
  reply: Pick<LiveReply, 'unreachable'>;
  waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  /** Aborted when somebody asks for the stop of the turn. */
  stopSignal: AbortSignal;
  /** Reads the reply. */
  createReader(onRead: ReplyReaderOptions['onRead']): ReplyReader;
  /** The reply was found. */
  onReplyFound(replyId: string): Promise<void>;
  /** Runs a step, again and again where its error passes by itself. */
  withRetry: <T>(step: () => Promise<T>) => Promise<T>;
}

/** An answer that has settled. */
export interface SettledReply {
  reply: AgentMessage;
  /** Whether its run was given another message meanwhile. */
  hasForwarded: boolean;
}

/**
 * Follows a turn's reply until it has settled, and offers what waits in the thread to a run that is silent. However the
 * following ends, nothing is being passed on after it. Throws TurnEnds where the task settled without a reply.
 */
export async function followReply(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: TurnLocation,
  lease: Lease,
  { state, reply, waitingReactions, stopSignal, withRetry, ...options }: FollowReplyOptions,
  knownReply: AgentMessage | null,
): Promise<SettledReply> {
  const forwarding = new MidRunForwarding(deps, workspace, turn, lease, {
    stopSignal,
    onForwarded: (writer, notes) => {
      state.onForwarded(writer, notes);
      waitingReactions.cleanUp();
    },
    onPutBack: () => state.onPutBack(),
  });
  const readToEnd = async () => {
    const reader = options.createReader((message, print) => {
      if (reply.unreachable !== undefined) throw reply.unreachable;
      state.onRead(message, print, deps.settings.silenceMs);
      if (state.silence !== undefined) forwarding.offer(state.silence);
    });
    const found = await withRetry(() => reader.find(knownReply));
    if (found === undefined) throw new TurnEnded('failed', strings.emptyAnswer);
    await options.onReplyFound(found.id);
    return withRetry(() => reader.readToEnd());
  };
  let settled: AgentMessage;
  try {
    settled = await readToEnd();
  } finally {
    await forwarding.stop();
  }
  return { reply: settled, hasForwarded: forwarding.hasForwarded };
}
