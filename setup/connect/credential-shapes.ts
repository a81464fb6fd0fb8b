/** What a credential of Slack looks like. */
export interface CredentialShape {
  name: string;
  prefix: string;
  /** Its last part, after the last hyphen, has at least this many characters. */
  leastEnd: number;
  /** Where to copy it. */
  where: string;
}

export const BOT_TOKEN: CredentialShape = {
  name: 'bot token',
  prefix: 'xoxb-',
  leastEnd: 24,
  where: '"OAuth & Permissions", "Bot User OAuth Token"',
};
export const APP_TOKEN: CredentialShape = {
  name: 'app-level token',
  prefix: 'xapp-',
  leastEnd: 64,
  where: '"Basic Information", "App-Level Tokens"',
};
export const CONFIGURATION_TOKEN: CredentialShape = {
  name: 'configuration token',
  prefix: 'xoxe.xoxp-',
  leastEnd: 100,
  where: '"Your App Configuration Tokens" at the end of api.slack.com/apps',
};
export const REFRESH_TOKEN: CredentialShape = {
  ...CONFIGURATION_TOKEN,
  name: 'refresh token',
  prefix: 'xoxe-',
};
export const SIGNING_SECRET: CredentialShape = {
  name: 'signing secret',
  prefix: '',
  leastEnd: 32,
  where: '"Basic Information", "App Credentials"',
};

/** Kinds that people paste by mistake, the most specific first. */
const KINDS: readonly [pattern: RegExp, name: string][] = [
  [/^xoxe\.xoxb-/, 'a bot token that expires: turn token rotation off for an app in one workspace'],
  [/^xoxe\.xoxp-/, 'a configuration token'],
  [/^xoxe-/, 'a refresh token'],
  [/^xoxb-/, 'a bot token'],
  [/^xoxp-/, 'a user token'],
  [/^xapp-/, 'an app-level token'],
  [/^https?:/, 'an address'],
  [/^[0-9a-f]{32}$/, 'a signing secret or a client secret'],
];

/** What is wrong with a credential and how to mend it, as far as its length and shape show; undefined if nothing is. */
export function credentialProblem(shape: CredentialShape, value: string): string | undefined {
  const { name, prefix, leastEnd, where } = shape;
  const copy = `Copy the ${name} again, with Slack's Copy button: ${where}.`;
  if (value === '') return `Paste the ${name}: ${where}.`;
  const kind = KINDS.find(([pattern]) => pattern.test(value))?.[1];
  if (prefix === '' ? kind !== undefined && !/^[0-9a-f]{32}$/.test(value) : !value.startsWith(prefix)) {
    const is = kind === undefined ? `no ${name}` : kind;
    const begins = prefix === '' ? '' : `, which begins with ${prefix}`;
    return `This is ${is}. Paste the ${name}${begins}: ${where}.`;
  }
  if (/[^\w.-]/.test(value)) return `A ${name} has no blanks, quotes or other signs. ${copy}`;
  const [end = ''] = /[^-]*$/.exec(value.slice(prefix.length)) ?? [];
  const length = prefix.startsWith('xoxe') ? value.length : end.length;
  if (length < leastEnd) return `Its end is missing: it has only ${value.length} characters. ${copy}`;
  return undefined;
}

/** How what is typed so far looks, in a few words. */
export function credentialHint(shape: CredentialShape, typed: string): string {
  const looks = credentialProblem(shape, typed) === undefined ? 'looks whole' : 'not whole yet';
  const isOther = !typed.startsWith(shape.prefix.slice(0, typed.length));
  return isOther ? `begins like no ${shape.name}` : looks;
}

/** The app that an app-level token belongs to (`A…`). */
export function appOfToken(appToken: string): string | undefined {
  return /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
}
