/** The message or view that contains blocks; it handles their actions. */
export interface Surface {
  /** Sends an action to the app; resolves to whether the app acknowledged it. */
  act(pressed: { actionId: string; value?: string; values?: string[] }): Promise<boolean>;
}
