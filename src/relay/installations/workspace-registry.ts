import type { WorkspaceClient } from '../runtime/deps.ts';

/** Where an event or a press happened, as Slack says. */
export interface InstallationQuery {
  workspace: string;
  /** The organisation (`E…`) whose installation it is for; left out for a workspace's own. */
  organisation?: string | undefined;
}

/** What Bolt wants to know of an installation. */
export interface BotAuthorization {
  botToken: string;
  botUserId: string;
  botId: string;
  teamId: string;
}

/** The workspaces in which the bot is installed. */
export interface WorkspaceRegistry {
  ids(): readonly string[];
  /** Undefined where the bot is not installed, as far as this process knows by now. */
  workspace(id: string): WorkspaceClient | undefined;
  /**
   * The same, but what this process does not know is looked up: an organisation's installation at Slack. Throws
   * StoreError, and a SlackError where Slack cannot be asked.
   */
  find(at: InstallationQuery): Promise<WorkspaceClient | undefined>;
  authorization(at: InstallationQuery): Promise<BotAuthorization | undefined>;
  /** Since when Slack refuses the token of the settings. */
  tokenRefusedSince(): Date | undefined;
  /** Of how many workspaces Slack refuses the token that they brought. */
  refusedOwnTokenCount(): number;
}
