import { z } from 'zod';
import { missingScopes } from '../../src/slack/scopes.ts';
import { clientForToken } from '../../src/slack/slack-client.ts';
import { identifyToken } from '../../src/slack/tokens.ts';
import { createAppLink, manifestVariant, publicUrlProblem } from '../manifest-file.ts';
import { createApp } from './app-creation.ts';
import { openInBrowser } from './browser.ts';
import {
  APP_TOKEN,
  appOfToken,
  BOT_TOKEN,
  type CredentialShape,
  credentialHint,
  credentialProblem,
  SIGNING_SECRET,
} from './credential-shapes.ts';
import type { TextQuestion } from './questions.ts';
import { appPage, describeSlackError, type Session, SILENT_LOG, slackApiUrl } from './session.ts';

/** The part of a question that all credentials have in common. */
function credentialQuestion(shape: CredentialShape): Pick<TextQuestion, 'secret' | 'hint'> {
  return { secret: true, hint: (typed) => credentialHint(shape, typed) };
}

/** Connects a Slack app in one workspace: makes it or takes one that exists, and saves its credentials, all tried. */
export async function connectSlack(session: Session): Promise<void> {
  const { questions, settings } = session;
  const publicUrl = await askTransport(session);
  const way = await questions.choose({
    key: 'way',
    message: 'Which Slack app?',
    choices: [
      {
        value: 'link',
        name: 'A new one',
        description: 'Slack shows a page with everything filled in; you click Create',
      },
      {
        value: 'configuration-token',
        name: 'A new one, made for you',
        description: 'with a configuration token; its icon is set, and the next run can update it',
      },
      {
        value: 'existing',
        name: 'One that exists',
        description: 'you enter its credentials, or keep those you have',
      },
    ],
    default: settings.get('SLACK_BOT_TOKEN') === undefined ? 'link' : 'existing',
  });
  const made = way === 'configuration-token' ? await createApp(session, publicUrl) : undefined;
  if (way === 'link') showCreateLink(session, publicUrl);
  const { botToken, appId } = await askBotToken(session, made?.appId);
  const credentials =
    publicUrl === undefined
      ? {
          SLACK_APP_TOKEN: made?.appToken ?? (await askAppToken(session, appId)),
          SLACK_SIGNING_SECRET: undefined,
        }
      : {
          SLACK_APP_TOKEN: undefined,
          SLACK_SIGNING_SECRET: made?.signingSecret ?? (await askSigningSecret(session, appId)),
          PUBLIC_URL: publicUrl,
        };
  const changes = { SLACK_BOT_TOKEN: botToken, SLACK_APP_ID: appId, ...credentials };
  await settings.save(changes, session.secretPlace);
}

/** Resolves to the public address if events arrive by HTTP. */
async function askTransport(session: Session): Promise<string | undefined> {
  const { questions, settings } = session;
  const byHttp =
    settings.get('SLACK_APP_TOKEN') === undefined && settings.get('SLACK_SIGNING_SECRET') !== undefined;
  const events = await questions.choose({
    key: 'events',
    message: 'How do events reach the bot?',
    choices: [
      {
        value: 'socket',
        name: 'Socket Mode',
        description: 'the bot connects to Slack; it needs no public address',
      },
      {
        value: 'http',
        name: 'HTTP',
        description: 'Slack calls an https address of yours; recommended in production',
      },
    ],
    default: byHttp ? 'http' : 'socket',
  });
  if (events === 'socket') return undefined;
  const url = await questions.ask({
    key: 'public_url',
    message: 'Public address',
    where: 'The https address at which Slack reaches the bot, such as https://bot.example.org.',
    default: settings.get('PUBLIC_URL'),
    check: (answer) => publicUrlProblem(answer, slackApiUrl(session)),
  });
  return new URL(url).origin;
}

function showCreateLink({ say }: Session, publicUrl: string | undefined): void {
  const link = createAppLink(manifestVariant({ publicUrl }));
  if (openInBrowser(link))
    say(
      "\nSlack's page for a new app opens in your browser. If it does not, npm run manifest prints its link.",
    );
  else say(`\nOpen this link: Slack's page for a new app, with everything filled in.\n\n${link}\n`);
  say('There, choose the workspace, then "Next" and "Create".');
}

async function askBotToken(
  session: Session,
  madeAppId: string | undefined,
): Promise<{ botToken: string; appId: string | undefined }> {
  let appId: string | undefined;
  const page = appPage(madeAppId ?? session.settings.get('SLACK_APP_ID'), 'oauth');
  const botToken = await session.questions.ask({
    key: 'bot_token',
    message: 'Bot token',
    where: `Install the app, then copy "Bot User OAuth Token" from "OAuth & Permissions":\n${page}`,
    default: session.settings.get('SLACK_BOT_TOKEN'),
    ...credentialQuestion(BOT_TOKEN),
    check: async (token) => {
      const problem = credentialProblem(BOT_TOKEN, token);
      if (problem !== undefined) return problem;
      try {
        const options = { token, slackApiUrl: slackApiUrl(session), log: SILENT_LOG };
        const identity = await identifyToken(options);
        if (madeAppId !== undefined && identity.appId !== undefined && identity.appId !== madeAppId)
          return `This token belongs to another app (${identity.appId}). Copy it from ${page}.`;
        appId = identity.appId ?? madeAppId;
        return scopeProblem(identity.scopes);
      } catch (error) {
        return describeSlackError(error, BOT_TOKEN.name);
      }
    },
  });
  return { botToken, appId };
}

function scopeProblem(granted: readonly string[]): string | undefined {
  const missing = granted.length === 0 ? [] : missingScopes(granted);
  if (missing.length === 0) return undefined;
  return `The app lacks ${missing.join(', ')}. Add them under "OAuth & Permissions", install the app again, and copy the token.`;
}

const connectionSchema = z.looseObject({ url: z.string() });

async function askAppToken(session: Session, appId: string | undefined): Promise<string> {
  const page = appPage(appId, 'general');
  return session.questions.ask({
    key: 'app_token',
    message: 'App-level token',
    where: `Under "App-Level Tokens", generate one with the scope connections:write:\n${page}`,
    default: session.settings.get('SLACK_APP_TOKEN'),
    ...credentialQuestion(APP_TOKEN),
    check: async (token) => {
      const problem = credentialProblem(APP_TOKEN, token);
      if (problem !== undefined) return problem;
      const owner = appOfToken(token);
      if (appId !== undefined && owner !== undefined && owner !== appId)
        return `This token belongs to another app (${owner}) than the bot token (${appId}). Make one at ${page}.`;
      try {
        const client = clientForToken(token, { slackApiUrl: slackApiUrl(session), log: SILENT_LOG });
        await client.call('apps.connections.open', {}, { schema: connectionSchema });
        return undefined;
      } catch (error) {
        return describeSlackError(error, APP_TOKEN.name);
      }
    },
  });
}

async function askSigningSecret(session: Session, appId: string | undefined): Promise<string> {
  return session.questions.ask({
    key: 'signing_secret',
    message: 'Signing secret',
    where: `Under "App Credentials", show and copy it:\n${appPage(appId, 'general')}`,
    default: session.settings.get('SLACK_SIGNING_SECRET'),
    ...credentialQuestion(SIGNING_SECRET),
    check: (secret) => credentialProblem(SIGNING_SECRET, secret),
  });
}
