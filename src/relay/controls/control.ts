/** A control as a person gave it. */
export interface ControlRequest {
  workspace: string;
  turnId: string;
  person: string;
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
export type SignOutcome = ControlOutcome | 'nothing' | 'withdrawn' | 'ignored';
