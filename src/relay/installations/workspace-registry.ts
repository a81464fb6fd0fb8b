import type { WorkspaceClient } from '../runtime/deps.ts';

export interface InstallationQuery {
  workspace: string;
  /** The organisation (`E…`) whose installation it is for; left out for the workspace's own. */
  organisation?: string | undefined;
}

/** The workspaces where the app is installed. */
export interface WorkspaceRegistry {
  ids(): readonly string[];
  /** Undefined if the app is not installed, as far as this process knows. */
  workspace(id: string): WorkspaceClient | undefined;
  /** The same, but also asks the store and, for an organisation, Slack. Throws StoreError, or a SlackError. */
  find(at: InstallationQuery): Promise<WorkspaceClient | undefined>;
  /** Since when Slack refuses the token in the settings. */
  tokenRefusedSince(): Date | undefined;
  /** How many workspaces' own tokens Slack refuses, or cannot be decrypted. */
  refusedOwnTokenCount(): number;
}
