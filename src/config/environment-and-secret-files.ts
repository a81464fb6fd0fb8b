import { readFileSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { parseServiceUrl } from '../agent/network-address.ts';
import { type Config, formerSettings, settingGroups, settingNotes, settingsSchema } from './settings.ts';

export type { Config } from './settings.ts';

/** What docker and systemd leave in the values of their files, with what to do. */
const LEFT_IN_VALUES = [
  [/^(["']).*\1$/s, 'it is in quotes: remove them'],
  [/\s#(?:\s|$)/, 'it holds a comment: put that on a line of its own'],
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings are incomplete or invalid; `message` names each problem and how to fix it. */
export class ConfigError extends Error {
  readonly code = 'bad_settings';

  constructor(problems: readonly string[]) {
    super(`Some settings are missing or invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the settings from the environment, without blanks and byte order marks around them; empty values count as not
 * set. A secret may be in the file that `<NAME>_FILE` names. Throws a ConfigError, which names all that is missing or wrong.
 */
export function readConfig(environment: Environment): Config {
  return readSettings(environment, findConflicts);
}

/** Reads the settings for a command that needs neither Slack nor the service. Throws a ConfigError. */
export function readCommandConfig(environment: Environment): Config {
  return readSettings(environment, () => []);
}

function readSettings(environment: Environment, conflicts: typeof findConflicts): Config {
  const trimmed = Object.entries(environment).map(([name, value = '']) => [name.trim(), value.trim()]);
  const given: Environment = Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
  const secrets = [...settingNotes].filter(([, { secret }]) => secret === true).map(([name]) => name);
  const { read, problems } = readSecretFiles(given, secrets);
  // As in other programs; `misspeltNames` knows them.
  const set: Environment = { HTTPS_PROXY: given.https_proxy, NO_PROXY: given.no_proxy, ...read };
  for (const [name, value = ''] of Object.entries(set)) {
    if (!settingNotes.has(name)) continue;
    const [, left] = LEFT_IN_VALUES.find(([form]) => form.test(value)) ?? [];
    if (left !== undefined) problems.set(name, describeProblem(name, set, left));
  }
  for (const issue of settingsSchema.safeParse(set).error?.issues ?? []) {
    const name = String(issue.path[0]);
    const isNumber = issue.code === 'invalid_type' && issue.expected === 'number';
    const message = isNumber ? 'not a number' : issue.message;
    if (!problems.has(name)) problems.set(name, describeProblem(name, set, message));
  }
  // What is wrong is named once: it does not count as missing too.
  const valid = Object.fromEntries(Object.entries(set).filter(([name]) => !problems.has(name)));
  const config = settingsSchema.parse(valid);
  const known = [...settingNotes.keys(), ...secrets.map((name) => `${name}_FILE`)];
  const misspelt = misspeltNames(Object.keys(given), known);
  const former = Object.keys(given).filter((name) => formerSettings.has(name));
  const all = [
    ...former.map((name) => `${name} ${formerSettings.get(name)}`),
    ...misspelt,
    ...problems.values(),
    ...conflicts(config, set, problems),
  ];
  if (all.length > 0) throw new ConfigError(all);
  return config;
}

/** The error for a setting that the other side refuses, with where to find it; `why` is a clause. */
export function refusedSetting(name: keyof Config, why: string): ConfigError {
  return new ConfigError([describeProblem(name, { [name]: '' }, why)]);
}

/** Settings that contradict each other, or need another one. */
function findConflicts(config: Config, set: Environment, wrong: ReadonlyMap<string, string>): string[] {
  const isGiven = (name: keyof Config) => config[name] !== undefined || wrong.has(name);
  const missing = (names: readonly (keyof Config)[]) =>
    names.filter((name) => !isGiven(name)).map((name) => describeProblem(name, set, ''));
  const problems: string[] = [];
  const hasSharedAccount = isGiven('AGENT_BASE_URL') || isGiven('AGENT_API_KEY');
  const isOAuth = isGiven('SLACK_CLIENT_ID') || isGiven('SLACK_CLIENT_SECRET');
  if (isOAuth) {
    problems.push(...missing(['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'PUBLIC_URL', 'SECRET_KEY']));
    if (config.SLACK_BOT_TOKEN !== undefined)
      problems.push(
        'SLACK_BOT_TOKEN and SLACK_CLIENT_ID are both set. Remove SLACK_BOT_TOKEN: with OAuth, each installation provides a token.',
      );
    if (hasSharedAccount && config.INSTALL_WORKSPACES.length === 0 && !wrong.has('INSTALL_WORKSPACES'))
      problems.push(describeProblem('INSTALL_WORKSPACES', set, ''));
  } else {
    problems.push(...missing(['SLACK_BOT_TOKEN']));
    if (config.INSTALL_WORKSPACES.length > 0)
      problems.push('INSTALL_WORKSPACES has no effect without SLACK_CLIENT_ID. Remove it, or set up OAuth.');
  }
  // Without an account in the settings each workspace sets its own, which SECRET_KEY encrypts.
  if (hasSharedAccount || !isGiven('SECRET_KEY'))
    problems.push(...missing(['AGENT_BASE_URL', 'AGENT_API_KEY']));
  if (!isGiven('SLACK_APP_TOKEN') && !isGiven('SLACK_SIGNING_SECRET')) {
    problems.push(`${describeProblem('SLACK_APP_TOKEN', set, '')} Or, to receive events by HTTP:`);
    problems.push(describeProblem('SLACK_SIGNING_SECRET', set, ''));
  }
  if (config.STABLE_LINKS) problems.push(...missing(['PUBLIC_URL', 'SECRET_KEY']));
  problems.push(...insecureAddresses(config));
  return [...new Set(problems)];
}

/** The values of secret settings, which no log may show. */
export function secretValues(config: Config): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    if (settingNotes.get(name)?.secret !== true) return [];
    return [value].flat().filter((secret) => typeof secret === 'string');
  });
}

/** One row per setting for docs/settings.md and --help, those of a group together. */
export function settingRows() {
  let group = '';
  return Object.entries(settingsSchema.shape).map(([name, schema]) => {
    group = settingGroups.get(name) ?? group;
    const empty = schema.safeParse(undefined);
    const value = empty.success && empty.data !== undefined ? formatDefault(empty.data) : '';
    const note = settingNotes.get(name);
    return {
      group,
      name,
      fallback: empty.success && note?.required !== true ? value : 'required',
      what: describeSetting(name),
      secret: note?.secret === true,
    };
  });
}

/** A default value as people write it in the environment. */
function formatDefault(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object') return '{}';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is wrong with a setting (`message`; nothing if it is missing), what it is for and where to find it. */
function describeProblem(name: string, set: Environment, message: string) {
  const state = set[name] === undefined ? 'is missing' : `is invalid (${message})`;
  return `${name} ${state}. ${describeSetting(name)}`;
}

/** What a setting is for, and where to get its value. */
function describeSetting(name: string): string {
  const { what = '', where } = settingNotes.get(name) ?? {};
  return where === undefined ? what : `${what} Get it from: ${where}.`;
}

/**
 * Reads the files that `<NAME>_FILE` settings name for these secrets; trims byte order marks, blanks and line ends.
 * Returns the settings with the secrets, and by name what is wrong.
 */
function readSecretFiles(set: Environment, secrets: readonly string[]) {
  const read = { ...set };
  const problems = new Map<string, string>();
  for (const name of secrets) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) {
      problems.set(name, `${name} and ${name}_FILE are both set. Remove one of them.`);
      continue;
    }
    try {
      read[name] = readFileSync(file, 'utf8').trim();
      if (read[name] === '') problems.set(name, `${name}_FILE names an empty file: ${file}.`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
      problems.set(name, `${name}_FILE names a file that cannot be read${code}: ${file}.`);
    }
  }
  return { read, problems };
}

/** How many letters may differ in a name of this length; shorter ones look too much like those of other programs. */
function mayDiffer({ length }: string): number {
  if (length < 6) return 0;
  return length < 10 ? 1 : 2;
}

/** A sentence for each name that isn't a setting, but is close to one that isn't set: it would have no effect. */
function* misspeltNames(given: readonly string[], settings: readonly string[]): Iterable<string> {
  const isSet = (setting: string) =>
    [setting, `${setting}_FILE`, setting.replace(/_FILE$/, '')].some((name) => given.includes(name));
  const unset = settings.filter((setting) => !isSet(setting));
  const known = new Set([...settings, ...formerSettings.keys()]);
  for (const name of given) {
    if (known.has(name) || /^(?:https?|no)_proxy$/i.test(name)) continue;
    const meant = unset.find((setting) => distance(name.toUpperCase(), setting) <= mayDiffer(setting));
    if (meant !== undefined)
      yield `${name} is not a setting of Taskthread, and ${meant} is not set. Rename it to ${meant}, or set that too.`;
  }
}

/** What is wrong with addresses that must be https. A stand-in for Slack speaks http, and may reach us by http. */
function* insecureAddresses(config: Config): Iterable<string> {
  const { AGENT_BASE_URL, PRIVATE_HOSTS, PUBLIC_URL, SLACK_API_URL } = config;
  if (PUBLIC_URL?.startsWith('http:') === true && !SLACK_API_URL.startsWith('http:'))
    yield 'PUBLIC_URL must begin with https://. Slack sends events to nothing else, and redirects to nothing else.';
  try {
    if (AGENT_BASE_URL !== undefined) parseServiceUrl(AGENT_BASE_URL, new Set(PRIVATE_HOSTS));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    yield error.message;
  }
}
