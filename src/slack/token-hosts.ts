import { SLACK_API_URL } from './slack-client.ts';

/** Whether the bot's token may go to this address: Slack's hosts over https, and SLACK_API_URL if that is the sandbox. */
export function mayReceiveToken(url: string, slackApiUrl: string = SLACK_API_URL): boolean {
  if (!URL.canParse(url)) return false;
  const target = new URL(url);
  if (target.username !== '' || target.password !== '') return false;
  if (isSlackHost(target)) return true;
  const api = new URL(slackApiUrl);
  return !isSlackHost(api) && target.origin === api.origin;
}

function isSlackHost(url: URL): boolean {
  const standard = url.protocol === 'https:' && url.port === '';
  return standard && (url.hostname === 'slack.com' || url.hostname.endsWith('.slack.com'));
}
