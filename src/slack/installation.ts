export interface Installation {
  /** The workspace's id (`T…`). */
  workspace: string;
  /** Read before each call, because a token may be rotated. A getter may throw SlackAuthError if there is none. */
  readonly token: string;
  /** The bot's user id (`U…`). */
  botUser: string;
  /** The bot's own id (`B…`), as messages carry it. */
  botId: string;
  /** The organisation's id (`E…`), if the workspace belongs to one. */
  enterprise?: string | undefined;
  /** The token belongs to the organisation: calls name their workspace. */
  isOrgToken?: boolean | undefined;
}

/** An installation of which only the token is known. Without one, calls carry the app's own credentials. */
export function tokenOnlyInstallation(token = ''): Installation {
  return { workspace: '', token, botUser: '', botId: '' };
}
