/** Where blocks stand, and what happens there when somebody presses or chooses something. */
export interface Surface {
  /** Tells the app; the answer is whether it heard. */
  act(pressed: { actionId: string; value?: string; values?: string[] }): Promise<boolean>;
}
