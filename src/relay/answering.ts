import type { Message as AgentMessage } from '../agent/schema.ts';
import * as words from '../reply/words.ts';
import type { TurnPlace } from '../store/tables.ts';
import { PassingOn } from './asking/passing-on.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Marks } from './controls/marks.ts';
import { TurnEnds } from './interruption.ts';
import type { Lease } from './lease.ts';
import type { LiveReply } from './showing/live-reply.ts';
import type { ReplyReader, ReplyReaderOptions } from './showing/reply-reader.ts';
import type { ReplyState } from './showing/reply-state.ts';

/** What a turn lends to the following of its answer. */
export interface AnsweringManner {
  state: Pick<ReplyState, 'read' | 'silence' | 'passedOn' | 'putBack'>;
  reply: Pick<LiveReply, 'lost'>;
  marks: Pick<Marks, 'tidy'>;
  /** Aborted when somebody asks for the stop of the turn. */
  stop: AbortSignal;
  /** Reads the reply. */
  reader(onRead: ReplyReaderOptions['onRead']): ReplyReader;
  /** The reply was found. */
  found(replyId: string): Promise<void>;
  /** Runs a step, again and again where its error passes by itself. */
  patiently: <T>(step: () => Promise<T>) => Promise<T>;
}

/** An answer that has settled. */
export interface SettledAnswer {
  reply: AgentMessage;
  /** Whether its run was given another message meanwhile. */
  passed: boolean;
}

/**
 * Follows a turn's reply until it has settled, and offers what waits in the thread to a run that is silent. However the
 * following ends, nothing is being passed on after it. Throws TurnEnds where the task settled without a reply.
 */
export async function followAnswer(
  parts: RelayParts,
  workspace: Workspace,
  turn: TurnPlace,
  lease: Lease,
  { state, reply, marks, stop, patiently, ...manner }: AnsweringManner,
  known: AgentMessage | null,
): Promise<SettledAnswer> {
  const passing = new PassingOn(parts, workspace, turn, lease, {
    stop,
    passedOn: (writer, notes) => {
      state.passedOn(writer, notes);
      marks.tidy();
    },
    putBack: () => state.putBack(),
  });
  const toEnd = async () => {
    const reader = manner.reader((message, print) => {
      if (reply.lost !== undefined) throw reply.lost;
      state.read(message, print, parts.settings.silenceMs);
      if (state.silence !== undefined) passing.offer(state.silence);
    });
    const found = await patiently(() => reader.find(known));
    if (found === undefined) throw new TurnEnds('failed', words.noAnswer);
    await manner.found(found.id);
    return patiently(() => reader.toEnd());
  };
  let settled: AgentMessage;
  try {
    settled = await toEnd();
  } finally {
    await passing.done();
  }
  return { reply: settled, passed: passing.passed };
}
