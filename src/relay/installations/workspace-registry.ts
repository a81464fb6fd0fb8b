import type { WorkspaceClient } from '../runtime/deps.ts';

export interface InstallationQuery {
  workspace: string;
  /** The organisation (`E…`) whose installation it is for; left out for the workspace's own. */
  organisation?: string | undefined;
}

/** The workspaces where the app is installed. */
export interface WorkspaceRegistry {
  ids(): readonly string[];
  /** Undefined where the app is not installed, as far as this process knows. */
  workspace(id: string): WorkspaceClient | undefined;
  /**
   * The same, but looks up what this process does not know: in the store, and an organisation's workspaces in Slack.
   * Throws StoreError, and a SlackError where Slack cannot be asked.
   */
  find(at: InstallationQuery): Promise<WorkspaceClient | undefined>;
  /** Since when Slack refuses the token in the settings. */
  tokenRefusedSince(): Date | undefined;
  /** How many workspaces' own tokens Slack refuses. */
  refusedOwnTokenCount(): number;
}
