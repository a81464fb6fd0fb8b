import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { agentDialectSetting } from './agent/service-options.ts';
import {
  botIdList,
  emojiName,
  fileTypeList,
  hostList,
  nonNegativeInteger,
  secretKeyList,
  workspaceIdList,
} from './config/value-schemas.ts';

/** What people need to know of a setting beside its name. */
interface SettingNote {
  what: string;
  /** Where to get it. */
  where?: string;
  secret?: true;
  /** Required but in the case that `what` names. */
  required?: true;
}

const settingNotes = new Map<string, SettingNote>();

function setting<Schema extends z.ZodType>(name: string, schema: Schema, note: SettingNote): Schema {
  settingNotes.set(name, note);
  return schema;
}

const settingsSchema = z.object({
  SLACK_BOT_TOKEN: setting('SLACK_BOT_TOKEN', z.string().startsWith('xoxb-').optional(), {
    what: 'Bot token of the one workspace, begins with xoxb-; for many workspaces, SLACK_CLIENT_ID takes its place',
    where: 'api.slack.com/apps, your app, "OAuth & Permissions", after "Install to Workspace"',
    secret: true,
    required: true,
  }),
  SLACK_APP_TOKEN: setting('SLACK_APP_TOKEN', z.string().startsWith('xapp-').optional(), {
    what: 'App-level token with connections:write, begins with xapp-; set: events come by Socket Mode',
    where: 'api.slack.com/apps, your app, "Basic Information", "App-Level Tokens"',
    secret: true,
  }),
  SLACK_SIGNING_SECRET: setting('SLACK_SIGNING_SECRET', z.string().min(1).optional(), {
    what: 'Signing secret; needed where events come by HTTP (SLACK_APP_TOKEN not set)',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
    secret: true,
  }),
  SLACK_CLIENT_ID: setting('SLACK_CLIENT_ID', z.string().min(1).optional(), {
    what: 'Client id of the app: workspaces (INSTALL_WORKSPACES) install it at PUBLIC_URL/slack/install (OAuth)',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
  }),
  SLACK_CLIENT_SECRET: setting('SLACK_CLIENT_SECRET', z.string().min(1).optional(), {
    what: 'Client secret of the app; needed with SLACK_CLIENT_ID',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
    secret: true,
  }),
  INSTALL_WORKSPACES: setting('INSTALL_WORKSPACES', workspaceIdList, {
    what: 'Workspaces (T…) and organisations (E…), separated by commas, that alone may install the app by OAuth; any may when not set',
  }),
  SLACK_API_URL: setting('SLACK_API_URL', z.url().default('https://slack.com/api/'), {
    what: "Address of Slack's Web API; another one only for trying and testing",
  }),
  SLACK_DISTRIBUTED: setting('SLACK_DISTRIBUTED', z.stringbool().default(false), {
    what: 'Whether the app is distributed outside the Marketplace: Slack then lets it read back one page of 15 messages a minute',
  }),
  SLACK_SOCKETS: setting('SLACK_SOCKETS', z.coerce.number().int().min(2).max(10).default(8), {
    what: "Socket Mode connections that all processes have together; Slack's limit is 10 for each app, and what is left out is room for a dead process's",
  }),
  GAP_MINUTES: setting('GAP_MINUTES', z.coerce.number().positive().default(5), {
    what: 'After how long without receiving the threads and channels of the last 24 hours are read back',
  }),
  AGENT_BASE_URL: setting('AGENT_BASE_URL', z.url().optional(), {
    what: 'Base address of the Agent Task Service, with its version (…/v1); may be left out with AGENT_API_KEY where each workspace sets its own (SECRET_KEY)',
    where: 'the account page of the service, or your contact there',
    required: true,
  }),
  AGENT_API_KEY: setting('AGENT_API_KEY', z.string().min(1).optional(), {
    what: 'API key of the Agent Task Service, for all workspaces that set none of their own',
    where: 'the account page of the service, or your contact there',
    secret: true,
    required: true,
  }),
  PRIVATE_HOSTS: setting('PRIVATE_HOSTS', hostList, {
    what: "Hosts (names or addresses, separated by commas) that may lie in a private network or speak plain http: the service's and those of its links; all others must be public and https",
  }),
  ACCOUNT_HOSTS: setting('ACCOUNT_HOSTS', hostList, {
    what: 'The same for the accounts that admins of workspaces set: whoever may set one can have these hosts asked',
  }),
  AGENT_DIALECT: setting('AGENT_DIALECT', agentDialectSetting, {
    what: 'What the service document leaves open, as a JSON object; the table of assumptions lists the names',
  }),
  AGENT_SKILL: setting('AGENT_SKILL', z.string().min(1).optional(), {
    what: 'Skill (id or name) that every message runs; none when not set',
  }),
  AGENT_READS_PER_SECOND: setting('AGENT_READS_PER_SECOND', z.coerce.number().positive().default(20), {
    what: 'Most reads a second under one service key in each process, shared by its live replies',
  }),
  DATABASE_URL: setting('DATABASE_URL', z.string().min(1).optional(), {
    what: 'PostgreSQL, like postgres://user:password@host/name; not set: an embedded PostgreSQL under DATA_FOLDER',
    secret: true,
  }),
  DATA_FOLDER: setting('DATA_FOLDER', z.string().min(1).default('./data'), {
    what: 'Folder of the embedded PostgreSQL',
  }),
  PORT: setting('PORT', nonNegativeInteger.max(65_535).default(3000), {
    what: 'Port for events by HTTP, /healthz and /readyz; 0 takes a free one',
  }),
  METRICS_PORT: setting('METRICS_PORT', nonNegativeInteger.max(65_535).optional(), {
    what: 'Port of its own for /metrics, so that it need not be public; not set: on PORT',
  }),
  PUBLIC_URL: setting('PUBLIC_URL', z.url().optional(), {
    what: 'Address at which Slack and browsers reach PORT, without a path; needed for STABLE_LINKS and SLACK_CLIENT_ID; npm run doctor tries it, and asks for it with events by HTTP',
  }),
  HOST: setting('HOST', z.string().min(1).default('0.0.0.0'), { what: 'Address to listen on' }),
  LOG_LEVEL: setting(
    'LOG_LEVEL',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    { what: 'How much is logged: fatal, error, warn, info, debug, trace or silent' },
  ),
  SLACK_EDITS_PER_MINUTE: setting('SLACK_EDITS_PER_MINUTE', z.coerce.number().positive().default(50), {
    what: "Slack's limit of chat.update a minute and workspace",
  }),
  REPLY_MESSAGES: setting('REPLY_MESSAGES', z.coerce.number().int().positive().default(12), {
    what: 'Most messages that an answer takes; what goes beyond them is attached as a file',
  }),
  TRANSCRIPT_MESSAGES: setting('TRANSCRIPT_MESSAGES', nonNegativeInteger.default(20), {
    what: 'Newest messages of a human thread that go before a question asked in its middle',
  }),
  TRANSCRIPT_CHARACTERS: setting('TRANSCRIPT_CHARACTERS', nonNegativeInteger.default(20_000), {
    what: 'Most characters of that transcript',
  }),
  FILE_LIMIT_MIB: setting('FILE_LIMIT_MIB', z.coerce.number().positive().default(2_048), {
    what: 'Largest file that is passed on, in MiB',
  }),
  FILES_LIMIT_MIB: setting('FILES_LIMIT_MIB', z.coerce.number().positive().default(4_096), {
    what: 'Most that all files of one message may have together, in MiB',
  }),
  FILES_MOST: setting('FILES_MOST', nonNegativeInteger.default(20), {
    what: 'Most files of one message that are passed on',
  }),
  FILE_TYPES_ALLOWED: setting('FILE_TYPES_ALLOWED', fileTypeList, {
    what: 'Types of files that alone are passed on, like .csv,image/*,text/plain; all when not set',
  }),
  FILE_TYPES_REFUSED: setting('FILE_TYPES_REFUSED', fileTypeList, {
    what: 'Types of files that are never passed on, written the same way',
  }),
  INLINE_LIMIT_MIB: setting('INLINE_LIMIT_MIB', z.coerce.number().nonnegative().default(50), {
    what: 'Largest picture or table of the agent that is put into the thread itself, in MiB; larger ones are links; 0: all are',
  }),
  TABLE_LIMIT_KIB: setting('TABLE_LIMIT_KIB', z.coerce.number().nonnegative().default(256), {
    what: 'Largest CSV or TSV of the agent whose first rows are shown, in KiB; 0: none',
  }),
  WATCH_MINUTES: setting('WATCH_MINUTES', z.coerce.number().nonnegative().default(60), {
    what: 'How long a task is watched after its answer, for files and reviews that come later; 0: not at all',
  }),
  WATCH_SECONDS: setting('WATCH_SECONDS', z.coerce.number().positive().default(10), {
    what: 'The first look at a watched task comes after so long; the pauses grow to twelve times that',
  }),
  STABLE_LINKS: setting('STABLE_LINKS', z.stringbool().default(false), {
    what: "Whether results are linked at PUBLIC_URL for 7 days, instead of by the service's short-lived links; who holds such a link can read the file",
  }),
  SECRET_KEY: setting('SECRET_KEY', secretKeyList.optional(), {
    what: 'At least 32 random characters, the same for all processes: encrypts the tokens and keys of workspaces, and signs links; needed for SLACK_CLIENT_ID and STABLE_LINKS. To change it, put the new one before the old, with a comma between, and run npm run rotate-key',
    where: 'openssl rand -hex 32',
    secret: true,
  }),
  BACKGROUND_WAIT_SECONDS: setting('BACKGROUND_WAIT_SECONDS', nonNegativeInteger.default(60), {
    what: 'How long a finished reply waits for a task that still works in the background',
  }),
  SILENCE_SECONDS: setting('SILENCE_SECONDS', z.coerce.number().positive().default(120), {
    what: 'After how long without new content the thread says that the agent is silent',
  }),
  CONTROLS_BY: setting('CONTROLS_BY', z.enum(['starter', 'channel', 'admins']).default('channel'), {
    what: "Who may use the buttons below an answer, the word stop and other controls: starter (who began the thread or asked; admins too), channel (any full member in the channel) or admins; a channel's own setting comes first",
  }),
  AGENT_SESSIONS: setting('AGENT_SESSIONS', z.stringbool().default(false), {
    what: 'Whether the app is declared an agent in Slack (agent_view in its manifest): Slack then shows that it works, with a stop button of its own, and titles and suggested prompts in direct messages; and lets no guests use it',
  }),
  STOP_REACTION: setting('STOP_REACTION', emojiName, {
    what: 'Emoji that stops the agent when somebody puts it on a message or on its answer; none for no such emoji',
  }),
  ADMITS: setting('ADMITS', z.enum(['members', 'guests', 'everyone']).default('members'), {
    what: "Whose messages the bot takes: members (full members of the workspace), guests (guests too) or everyone (people of other organisations in shared channels too); what an admin sets for a workspace in App Home, and a channel's own setting, come first",
  }),
  ADMITS_BOTS: setting('ADMITS_BOTS', botIdList, {
    what: 'Other bots and workflows (ids that begin with B, separated by commas) whose messages the bot takes, where they mention it; none when not set. What is set for a workspace or a channel comes first',
  }),
  TURNS_PER_HOUR_PERSON: setting('TURNS_PER_HOUR_PERSON', nonNegativeInteger.default(60), {
    what: 'Most messages of one person that the agent gets in an hour; 0: no limit',
  }),
  TURNS_PER_HOUR_WORKSPACE: setting('TURNS_PER_HOUR_WORKSPACE', nonNegativeInteger.default(0), {
    what: 'The same for a whole workspace',
  }),
  TURNS_AT_ONCE_PERSON: setting('TURNS_AT_ONCE_PERSON', nonNegativeInteger.default(10), {
    what: 'Most messages of one person that the agent works on at once; 0: no limit',
  }),
  TURNS_AT_ONCE_WORKSPACE: setting('TURNS_AT_ONCE_WORKSPACE', nonNegativeInteger.default(200), {
    what: 'The same for a whole workspace',
  }),
  KEEP_WORDS_DAYS: setting('KEEP_WORDS_DAYS', nonNegativeInteger.default(7), {
    what: "Days after which people's words leave the database, once they were sent; so long a failed turn can be tried again",
  }),
  KEEP_ROWS_DAYS: setting('KEEP_ROWS_DAYS', z.coerce.number().int().min(2).default(90), {
    what: 'Days after which the records of messages, turns and posts leave the database',
  }),
  KEEP_AUDIT_DAYS: setting('KEEP_AUDIT_DAYS', z.coerce.number().int().min(1).default(365), {
    what: 'Days after which rows of the audit trail leave the database',
  }),
  KEEP_UNINSTALLED_DAYS: setting('KEEP_UNINSTALLED_DAYS', nonNegativeInteger.default(30), {
    what: "Days after which a workspace's rows leave the database once the app is uninstalled there; its tokens go at once",
  }),
  DRAIN_SECONDS: setting('DRAIN_SECONDS', nonNegativeInteger.default(8), {
    what: 'How long turns may take to hand over when the process is asked to stop',
  }),
});

/** All settings of the app, checked. */
export type Config = z.output<typeof settingsSchema>;

/** The environment does not make a configuration; `message` names each setting and how to mend it. */
export class ConfigError extends Error {
  readonly code = 'bad_settings';

  constructor(problems: readonly string[]) {
    super(`The settings are not complete:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the settings from an environment; empty values count as not set. A secret may stand in a file that
 * `<NAME>_FILE` names. Throws ConfigError.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = readSecretFiles(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
  );
  const parsed = settingsSchema.safeParse(set);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map((issue) => describeProblem(String(issue.path[0]), set, issue.message)),
    );
  }
  const problems = findConflicts(parsed.data, set);
  if (problems.length > 0) throw new ConfigError(problems);
  return parsed.data;
}

/** What does not go together, or is missing beside what is there. */
function findConflicts(config: Config, set: Record<string, string | undefined>): string[] {
  const missing = (names: readonly (keyof Config)[]) =>
    names.filter((name) => config[name] === undefined).map((name) => describeProblem(name, set, ''));
  const found: string[] = [];
  const oauth = config.SLACK_CLIENT_ID !== undefined || config.SLACK_CLIENT_SECRET !== undefined;
  if (oauth) {
    found.push(...missing(['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'PUBLIC_URL', 'SECRET_KEY']));
    if (config.SLACK_BOT_TOKEN !== undefined)
      found.push(
        'SLACK_BOT_TOKEN and SLACK_CLIENT_ID are both set. Leave the token out: workspaces bring theirs as they install.',
      );
  } else {
    found.push(...missing(['SLACK_BOT_TOKEN']));
    if (config.INSTALL_WORKSPACES.length > 0)
      found.push(
        'INSTALL_WORKSPACES is set without SLACK_CLIENT_ID: nobody can install the app. Leave it out.',
      );
  }
  // Without a key of the settings each workspace brings its own, which SECRET_KEY encrypts.
  const shared = config.AGENT_BASE_URL !== undefined || config.AGENT_API_KEY !== undefined;
  if (shared || config.SECRET_KEY === undefined) found.push(...missing(['AGENT_BASE_URL', 'AGENT_API_KEY']));
  if (config.SLACK_APP_TOKEN === undefined && config.SLACK_SIGNING_SECRET === undefined) {
    found.push(`${describeProblem('SLACK_APP_TOKEN', set, '')} Or, for events by HTTP:`);
    found.push(describeProblem('SLACK_SIGNING_SECRET', set, ''));
  }
  if (config.STABLE_LINKS) found.push(...missing(['PUBLIC_URL', 'SECRET_KEY']));
  return [...new Set(found)];
}

/** The values of the settings that are secrets: what no log may show. */
export function secretValues(config: Config): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    if (settingNotes.get(name)?.secret !== true) return [];
    return [value].flat().filter((secret) => typeof secret === 'string');
  });
}

/** Secrets from the files that the environment names, without what editors leave around them: a mark, blanks, line ends. */
function readSecretFiles(set: Record<string, string | undefined>): Record<string, string | undefined> {
  const problems: string[] = [];
  const read = { ...set };
  for (const [name, { secret }] of settingNotes) {
    const file = set[`${name}_FILE`];
    if (secret !== true || file === undefined) continue;
    if (set[name] !== undefined) {
      problems.push(`${name} and ${name}_FILE are both set. Leave one of them out.`);
      continue;
    }
    try {
      read[name] = readFileSync(file, 'utf8').trim();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
      problems.push(`${name}_FILE names a file that cannot be read${code}: ${file}.`);
    }
    if (read[name] === '') problems.push(`${name}_FILE names an empty file: ${file}.`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return read;
}

function describeProblem(name: string, set: Record<string, string | undefined>, message: string): string {
  const note = settingNotes.get(name);
  const where = note?.where === undefined ? '' : ` Get it at: ${note.where}.`;
  const state = set[name] === undefined ? 'is missing' : `is not usable (${message})`;
  return `${name} ${state}. ${note?.what ?? ''}.${where}`;
}

/** One row for each setting: the README's table and --help are made of these. */
export function settingRows(): { name: string; fallback: string; what: string; secret: boolean }[] {
  return Object.entries(settingsSchema.shape).map(([name, schema]) => {
    const empty = schema.safeParse(undefined);
    const optional = empty.success;
    const value = empty.success && empty.data !== undefined ? formatDefault(empty.data) : '';
    const note = settingNotes.get(name);
    return {
      name,
      fallback: optional && note?.required !== true ? value : 'required',
      what: note?.what ?? '',
      secret: note?.secret === true,
    };
  });
}

function formatDefault(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object') return '{}';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
