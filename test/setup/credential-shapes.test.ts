import { expect, test } from 'vitest';
import { appLevelToken, botToken, configurationTokens } from '../../sandbox/slack/app-installation.ts';
import {
  APP_TOKEN,
  appOfToken,
  BOT_TOKEN,
  CONFIGURATION_TOKEN,
  credentialHint,
  credentialProblem,
  REFRESH_TOKEN,
  SIGNING_SECRET,
} from '../../setup/connect/credential-shapes.ts';
import { maskSecret, maskTyped } from '../../setup/connect/questions.ts';

const bot = botToken('T1', 's');
const { token, refreshToken } = configurationTokens('s');
const signingSecret = '0123456789abcdef'.repeat(2);

test.each([
  [BOT_TOKEN, bot],
  [APP_TOKEN, appLevelToken('A1', 's')],
  [CONFIGURATION_TOKEN, token],
  [REFRESH_TOKEN, refreshToken],
  [SIGNING_SECRET, signingSecret],
])('a whole $name passes, and a shorter one is said to be cut', (shape, value) => {
  expect(credentialProblem(shape, value)).toBeUndefined();
  expect(credentialHint(shape, value)).toBe('looks whole');
  const cut = value.slice(0, shape.name.startsWith('ref') || shape === CONFIGURATION_TOKEN ? 80 : -1);
  expect(credentialProblem(shape, cut)).toMatch(/^Its end is missing: it has only \d+ characters\. Copy the/);
  expect(credentialHint(shape, cut)).toBe('not whole yet');
});

test.each([
  [BOT_TOKEN, '', /^Paste the bot token: /],
  [
    BOT_TOKEN,
    appLevelToken('A1', 's'),
    /^This is an app-level token\. Paste the bot token, which begins with xoxb-/,
  ],
  [BOT_TOKEN, 'xoxp-1', /^This is a user token/],
  [BOT_TOKEN, 'xoxe.xoxb-1-x', /^This is a bot token that expires: turn token rotation off/],
  [BOT_TOKEN, signingSecret, /^This is a signing secret or a client secret/],
  [BOT_TOKEN, `${bot} x`, /has no blanks, quotes/],
  [BOT_TOKEN, `"${bot}"`, /^This is no bot token/],
  [APP_TOKEN, 'https://api.slack.com', /^This is an address/],
  [REFRESH_TOKEN, bot, /^This is a bot token/],
  [SIGNING_SECRET, bot, /^This is a bot token\. Paste the signing secret: /],
])('of what is pasted instead of a $name, its kind is named', (shape, value, problem) => {
  expect(credentialProblem(shape, value)).toMatch(problem);
});

test('a first wrong letter shows at once', () => {
  expect(credentialHint(BOT_TOKEN, 'xo')).toBe('not whole yet');
  expect(credentialHint(BOT_TOKEN, 'xa')).toBe('begins like no bot token');
});

test('an app-level token names its app', () => {
  expect(appOfToken(appLevelToken('A0B1', 's'))).toBe('A0B1');
  expect(appOfToken(bot)).toBeUndefined();
});

test('a secret is shown by its kind, its end and its length, and while it is typed without its end', () => {
  expect(maskSecret(bot)).toBe(`xoxb-…${bot.slice(-4)} (${bot.length} characters)`);
  expect(maskSecret('postgres://me:secret@db.example/lab')).toBe('postgres://…/lab (35 characters)');
  expect(maskSecret('short')).toBe('… (5 characters)');
  expect(maskTyped(bot)).toBe(`xoxb-… (${bot.length} characters)`);
  expect(maskTyped('x')).toBe('… (1 character)');
});
