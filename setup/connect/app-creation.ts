import { manifestDifferences, mergeManifests } from '../../src/slack/app-manifest.ts';
import { SlackError } from '../../src/slack/errors.ts';
import { type ManifestFile, manifestVariant } from '../manifest-file.ts';
import { setAppIcon } from './app-icon.ts';
import {
  CONFIGURATION_TOKEN,
  credentialHint,
  credentialProblem,
  REFRESH_TOKEN,
} from './credential-shapes.ts';
import { type CreatedApp, manifestProblems, OwnApps, rotateConfigurationToken } from './own-apps.ts';
import { appPage, describeSlackError, type Session, SILENT_LOG, slackApiUrl } from './session.ts';

/** An app that was made or brought up to date; one that existed keeps its credentials to itself. */
export type PreparedApp = Pick<CreatedApp, 'appId'> & Partial<CreatedApp>;

/**
 * Makes the app with a configuration token, or brings the one of an earlier run up to date. Its id and signing secret
 * are saved at once; if they cannot be, the app is deleted again.
 */
export async function createApp(session: Session, publicUrl: string | undefined): Promise<PreparedApp> {
  const manifest = manifestVariant({ publicUrl });
  const token = await askConfigurationToken(session, manifest);
  const apps = new OwnApps({ token, slackApiUrl: slackApiUrl(session), log: SILENT_LOG });
  const known = await findKnownApp(session, apps, manifest);
  if (known !== undefined) return known;
  const { say, interruption } = session;
  const created = await interruption.hold(() =>
    createAndSave(session, apps, manifest, publicUrl !== undefined),
  );
  const { appId } = created;
  say(`The app ${appId} is made.`);
  const iconProblem = await setAppIcon(slackApiUrl(session), token, appId);
  if (iconProblem !== undefined) {
    const page = appPage(appId, 'general');
    say(
      `Its icon could not be set (${iconProblem}). Set setup/icon.png by hand: ${page}, "Display Information".`,
    );
  }
  say(`Install it in your workspace: ${appPage(appId, 'install-on-team')}`);
  return created;
}

async function askConfigurationToken(session: Session, manifest: ManifestFile): Promise<string> {
  let usable = '';
  await session.questions.ask({
    key: 'configuration_token',
    message: 'Configuration token, or its refresh token',
    where: `Generate one for your workspace under ${CONFIGURATION_TOKEN.where}.`,
    secret: true,
    hint: (typed) => credentialHint(isRefreshToken(typed) ? REFRESH_TOKEN : CONFIGURATION_TOKEN, typed),
    check: async (answer) => {
      const shape = isRefreshToken(answer) ? REFRESH_TOKEN : CONFIGURATION_TOKEN;
      const problem = credentialProblem(shape, answer);
      if (problem !== undefined) return problem;
      const options = { slackApiUrl: slackApiUrl(session), log: SILENT_LOG };
      try {
        usable = shape === REFRESH_TOKEN ? (await rotateConfigurationToken(answer, options)).token : answer;
        await new OwnApps({ token: usable, ...options }).validate(manifest);
        return undefined;
      } catch (error) {
        const refused = manifestProblems(error);
        if (refused.length > 0) return `Slack refuses manifest.yml: ${refused.join('; ')}`;
        return describeSlackError(error, shape.name);
      }
    },
  });
  return usable;
}

function isRefreshToken(text: string): boolean {
  return /^xoxe-/.test(text);
}

/** The app of an earlier run, with our manifest, if it still exists and is wanted. */
async function findKnownApp(
  { questions, settings, say }: Session,
  apps: OwnApps,
  ours: ManifestFile,
): Promise<PreparedApp | undefined> {
  const appId = settings.get('SLACK_APP_ID');
  const atSlack = appId === undefined ? undefined : await apps.read(appId).catch(undefinedIfRefused);
  if (appId === undefined || atSlack === undefined) return undefined;
  const answer = await questions.choose({
    key: 'app',
    message: `An earlier run has made the app ${appId}`,
    choices: [
      { value: 'keep', name: 'Go on with it', description: 'its settings are brought up to date' },
      { value: 'new', name: 'Make another', description: 'the first one stays at Slack until you delete it' },
    ],
    default: 'keep',
  });
  if (answer === 'new') return undefined;
  const differences = manifestDifferences(atSlack, ours);
  if (differences.length > 0) {
    const mustInstall = await apps.update(appId, mergeManifests(atSlack, ours));
    say(`Updated at Slack: ${differences.join(', ')}.`);
    if (mustInstall)
      say(`Its permissions have changed. Install it again: ${appPage(appId, 'install-on-team')}`);
  }
  return { appId, ...signingSecretOf(settings.get('SLACK_SIGNING_SECRET')) };
}

function signingSecretOf(secret: string | undefined): { signingSecret?: string } {
  return secret === undefined ? {} : { signingSecret: secret };
}

function undefinedIfRefused(error: unknown): undefined {
  if (error instanceof SlackError && error.code === 'refused') return undefined;
  throw error;
}

async function createAndSave(
  { settings, secretPlace }: Session,
  apps: OwnApps,
  manifest: ManifestFile,
  needsSigningSecret: boolean,
): Promise<CreatedApp> {
  const created = await create(apps, manifest);
  const { appId, signingSecret } = created;
  try {
    const secret = needsSigningSecret ? { SLACK_SIGNING_SECRET: signingSecret } : {};
    await settings.save({ SLACK_APP_ID: appId, ...secret }, secretPlace);
  } catch (error) {
    await apps.delete(appId);
    throw error;
  }
  return created;
}

async function create(apps: OwnApps, manifest: ManifestFile): Promise<CreatedApp> {
  try {
    return await apps.create(manifest);
  } catch (error) {
    if (!(error instanceof SlackError) || error.outcome === 'none') throw error;
    throw new Error(
      `Slack did not say whether the app was made. Look at https://api.slack.com/apps, and delete it there before you run this again. (${error.message})`,
      { cause: error },
    );
  }
}
