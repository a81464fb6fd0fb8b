import type { Logger } from 'pino';
import { pino } from 'pino';
import { SlackError } from '../../src/slack/errors.ts';
import { SLACK_API_URL } from '../../src/slack/slack-client.ts';
import type { Interruption } from './interruption.ts';
import type { Questions } from './questions.ts';
import type { SecretPlace, SettingsFile } from './settings-file.ts';

/** What every step of `npm run connect` works with. */
export interface Session {
  questions: Questions;
  settings: SettingsFile;
  secretPlace: SecretPlace;
  say: (line: string) => void;
  interruption: Interruption;
}

/** Nothing that the steps call is logged: they say themselves what matters. */
export const SILENT_LOG: Logger = pino({ level: 'silent' });

/** Slack's address: another one only with a stand-in for Slack. */
export function slackApiUrl({ settings }: Session): string {
  return settings.get('SLACK_API_URL') ?? SLACK_API_URL;
}

/** A page of the app's settings at Slack, or how to get there if its id is not known. */
export function appPage(appId: string | undefined, page: string): string {
  return appId === undefined
    ? 'https://api.slack.com/apps, your app'
    : `https://api.slack.com/apps/${appId}/${page}`;
}

/** What a failed call to Slack means for the token that it was made with, and what to do. */
export function describeSlackError(error: unknown, token: string): string {
  if (!(error instanceof SlackError)) throw error;
  if (error.code === 'unavailable')
    return `Slack cannot be reached. Check the network and any proxy, then press Enter again. (${error.message})`;
  if (error.code === 'throttled') return 'Slack wants a pause. Wait a minute, then press Enter again.';
  const meanings: Record<string, string> = {
    invalid_auth: `Slack does not know this ${token}. Copy it again; it must be whole and from this app.`,
    token_expired: `This ${token} has expired. Make a new one.`,
    token_revoked: `This ${token} was revoked. Make a new one, or install the app again.`,
    account_inactive: `The app is not installed any more. Install it again, then copy the new ${token}.`,
    missing_scope: `This ${token} lacks a scope. Make a new one with connections:write.`,
    not_allowed_token_type: `Slack does not take this kind of token here. Paste the ${token}.`,
    invalid_refresh_token: `Slack does not know this ${token}. Each one works once; make a new one.`,
  };
  return meanings[error.slackCode] ?? error.message;
}
