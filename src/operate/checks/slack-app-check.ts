import {
  AppManifests,
  manifestDifferences,
  manifestForHttp,
  mergeManifests,
} from '../../slack/app-manifest.ts';
import manifest from '../../slack/manifest.generated.json' with { type: 'json' };
import { identifyToken } from '../../slack/token-identity.ts';
import { type Check, CheckFailed } from './check-result.ts';
import { describeSlackError } from './slack-checks.ts';

/** Compares the app at Slack with this release's manifest, and updates it there if asked to. */
export const checkApp: Check = async function* (config, { log, mend }) {
  const { SLACK_CONFIG_TOKEN: token, SLACK_BOT_TOKEN: botToken, SLACK_API_URL: slackApiUrl } = config;
  if (token === undefined || botToken === undefined) return;
  const { appId } = await identifyToken({ token: botToken, slackApiUrl, log });
  if (appId === undefined) throw new CheckFailed('Slack does not say to which app SLACK_BOT_TOKEN belongs.');
  const { PUBLIC_URL, SLACK_APP_TOKEN } = config;
  const isHttp = SLACK_APP_TOKEN === undefined && PUBLIC_URL !== undefined;
  const ours = isHttp ? manifestForHttp(manifest, PUBLIC_URL, false) : manifest;
  const apps = new AppManifests({ token, slackApiUrl, log });
  const atSlack = await apps.read(appId).catch((error: unknown) => {
    throw describeSlackError('SLACK_CONFIG_TOKEN', error);
  });
  const differences = manifestDifferences(atSlack, ours).join('; ');
  if (differences === '') yield "has everything of this release's manifest";
  else if (!mend)
    throw new CheckFailed(
      `The app at Slack differs: ${differences}. Run the doctor with --mend to update it.`,
    );
  else if (await apps.update(appId, mergeManifests(atSlack, ours)))
    throw new CheckFailed(
      `Updated: ${differences}. Its permissions have changed: install it again at https://api.slack.com/apps/${appId}/install-on-team.`,
    );
  else yield `updated at Slack: ${differences}`;
};
