import type { Turn } from '../../store/schema.ts';
import type { Turns } from '../../store/threads/turns.ts';

/** A control as a person gave it. */
export interface ControlRequest {
  workspace: string;
  /** Where it was given, as Slack says; undefined for a window of ours. */
  channel: string | undefined;
  turnId: string;
  person: string;
}

/**
 * The turn that a control names; undefined where it belongs to another channel than the one in which it was given: no
 * message of ours there has such a button.
 */
export async function turnOf(
  { turns }: { turns: Pick<Turns, 'get'> },
  { workspace, channel, turnId }: Pick<ControlRequest, 'workspace' | 'channel' | 'turnId'>,
): Promise<Turn | undefined> {
  const turn = await turns.get(workspace, turnId);
  return channel === undefined || turn?.channel === channel ? turn : undefined;
}

/** A press on a button below a message of ours. */
export interface Press extends ControlRequest {
  /** When the button was pressed, as Slack's action_ts: the ts of the message that the press stands for. */
  ts: string;
}

/**
 * What became of a control. `stopping`: asked for before, and not ended yet; `running`: the turn is at work;
 * `refused`: the person may not, and was told so; `away`: the service does not answer; `gone`: it has it no more.
 */
export type ControlOutcome =
  | 'done'
  | 'over'
  | 'unknown'
  | 'stopping'
  | 'running'
  | 'refused'
  | 'away'
  | 'gone';

/** What became of a sign; `nothing`: there is nothing to stop, `withdrawn`: the message had not been sent. */
export type StopOutcome = ControlOutcome | 'nothing' | 'withdrawn' | 'ignored';
