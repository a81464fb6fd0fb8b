/** The lanes that all processes share; `store/lanes` is one on PostgreSQL. */
export interface PermitStore {
  /**
   * Asks for one permit of a workspace's lane. 0: granted. Otherwise the ms until it is worth asking again.
   * `burst`: how many are granted at once after a long rest. Rules of one lane may differ from call to call.
   */
  take(workspace: string, lane: string, rule: { perMinute: number; burst: number }): Promise<number>;
  /** Slack refused a call: nobody gets a permit of this lane for `ms`, and then all go slower for some minutes. */
  pause(workspace: string, lane: string, ms: number): Promise<void>;
}
