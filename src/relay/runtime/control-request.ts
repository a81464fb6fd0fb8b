import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import type { ShownMessage } from '../../render/messages/button-notes.ts';
import type { Turn } from '../../store/schema.ts';
import type { Turns } from '../../store/threads/turns.ts';

/** A person uses a control on a turn. */
export interface ControlRequest {
  workspace: string;
  /** The channel of the control, as Slack says; undefined in a modal. */
  channel: string | undefined;
  turnId: string;
  person: string;
}

/** The turn that a control names; undefined if it is of another channel: no message of ours has such a button. */
export async function turnOf(
  { turns }: { turns: Pick<Turns, 'get'> },
  { workspace, channel, turnId }: Pick<ControlRequest, 'workspace' | 'channel' | 'turnId'>,
): Promise<Turn | undefined> {
  const turn = await turns.get(workspace, turnId);
  return channel === undefined || turn?.channel === channel ? turn : undefined;
}

/** A person presses a button below a message of ours. */
export interface Press extends ControlRequest {
  /** The message that the button stands below, if there is one. */
  messageTs?: string | undefined;
  /** What that message shows, as far as Slack says it. */
  message?: ShownMessage | undefined;
  /** When the button was pressed: Slack's action_ts, which is the ts of a message that the press stands for. */
  ts: string;
}

/** A person presses a button about a message or a thread. */
export interface MessagePress extends ChannelActor {
  threadTs: string | undefined;
  /** The message that it is about. */
  messageTs: string;
}

/**
 * What a control did. `over`: the turn has ended; `unknown`: no such turn; `stopping`: a stop was requested before;
 * `running`: the turn is still running; `refused`: the person has no permission, and was told.
 */
export type ControlOutcome = 'done' | 'over' | 'unknown' | 'stopping' | 'running' | 'refused';

/** What a press did, and what the person who pressed reads, where the outcome alone does not say it. */
export interface PressAnswer {
  outcome: ControlOutcome;
  /** Only they see it. */
  told?: string;
  /** Takes the place of the message that has the button. */
  replacement?: RenderedMessage;
}

/** What a stop trigger did. `nothing`: nothing runs; `withdrawn`: the message had not been sent. */
export type StopOutcome = ControlOutcome | 'nothing' | 'withdrawn' | 'ignored';

/** A person who acts in a workspace. */
export interface WorkspaceActor {
  workspace: string;
  person: string;
}

/** A person who acts in a channel, or asks about it. */
export interface ChannelActor extends WorkspaceActor {
  channel: string;
}
