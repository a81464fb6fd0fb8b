/** How the bot is: `down` is killed or ended by itself. */
export type BotPhase = 'starting' | 'running' | 'down';

export interface BotState {
  phase: BotPhase;
  pid: number | undefined;
  /** Unix time in ms since which it is so. */
  since: number;
}
