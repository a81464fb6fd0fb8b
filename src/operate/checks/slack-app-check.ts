import {
  AppManifests,
  hasStep,
  manifestDifferences,
  manifestForHttp,
  manifestWithStep,
  mergeManifests,
} from '../../slack/app-manifest.ts';
import manifest from '../../slack/manifest.generated.json' with { type: 'json' };
import { identifyToken } from '../../slack/tokens.ts';
import { type Check, CheckFailed } from './check-result.ts';
import { describeSlackError } from './slack-checks.ts';

/** Compares the app at Slack with this release's manifest, and updates it there if asked to. */
export const checkApp: Check = async function* (config, { log, mend }) {
  const { SLACK_CONFIG_TOKEN: token, SLACK_BOT_TOKEN: botToken, SLACK_API_URL: slackApiUrl } = config;
  if (mend && token === undefined)
    throw new CheckFailed(
      'SLACK_CONFIG_TOKEN is not set, and --mend needs it to update the app. Create one at api.slack.com/apps, "Your App Configuration Tokens".',
    );
  if (mend && botToken === undefined)
    throw new CheckFailed(
      'SLACK_BOT_TOKEN is not set, and --mend finds the app by it. Update the manifest at api.slack.com/apps.',
    );
  if (token === undefined || botToken === undefined) return;
  const { appId } = await identifyToken({ token: botToken, slackApiUrl, log }).catch((error: unknown) => {
    throw describeSlackError('SLACK_BOT_TOKEN', error);
  });
  if (appId === undefined) throw new CheckFailed('Slack does not say to which app SLACK_BOT_TOKEN belongs.');
  const { PUBLIC_URL, SLACK_APP_TOKEN } = config;
  const isHttp = SLACK_APP_TOKEN === undefined && PUBLIC_URL !== undefined;
  const transportManifest = isHttp ? manifestForHttp(manifest, PUBLIC_URL, false) : manifest;
  const apps = new AppManifests({ token, slackApiUrl, log });
  const atSlack = await apps.read(appId).catch((error: unknown) => {
    throw describeSlackError('SLACK_CONFIG_TOKEN', error);
  });
  const ours = hasStep(atSlack) ? manifestWithStep(transportManifest) : transportManifest;
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
  if (hasStep(atSlack)) yield 'offers the step "Ask the agent" in Workflow Builder';
};
