/** `down` means killed, or ended on its own. */
export type BotPhase = 'starting' | 'running' | 'down';

export interface BotState {
  phase: BotPhase;
  pid: number | undefined;
  /** When the phase began, Unix time in ms. */
  since: number;
}
