import { z } from 'zod';
import { agentDialectSetting } from '../agent/service-options.ts';
import { REGISTRIES } from '../registries/source-check.ts';

/** What operators need to know about a setting. */
interface SettingNote {
  what: string;
  /** Where to get it. */
  where?: string;
  secret?: true;
  /** Required, except in the case that `what` names. */
  required?: true;
}

const notes = z.registry<SettingNote>();

/** A schema of its own for a setting, with what operators need to know about it. */
function setting<Schema extends z.ZodType>(schema: Schema, note: SettingNote): Schema {
  const own = schema.clone();
  notes.add(own, note);
  return own;
}

/** Words separated by commas. */
const words = (text: string) => text.split(/[,\s]+/).filter((word) => word !== '');
const stringList = z.string().default('').transform(words);
/** Words or several of them, separated by commas alone. */
const phraseList = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((one) => (/\S/.test(one) ? [one.trim()] : [])));

/** A token or key, which goes into a header. */
const token = z.string().regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without blanks');

/** A name or an address as it stands in a URL, without what else does. */
const HOST_ONLY = /^(?![^:]*:\d*$)[^\s/[\]@]+$/;

const hostList = stringList
  .transform((hosts) => hosts.map((host) => host.toLowerCase()))
  .pipe(z.array(z.string().regex(HOST_ONLY, 'must be hosts alone, such as agent.example.org or 10.0.0.5')));

/** File extensions and MIME types separated by commas, each with `!` if it is refused. */
const fileTypeList = stringList.pipe(z.array(z.string().regex(/^!?(\.[^/\s]+|[\w.+-]+\/([\w.+-]+|\*))$/)));

/** Keys separated by commas, of at least 32 characters each. */
const secretKeyList = z
  .string()
  .transform(words)
  .pipe(z.array(z.string().min(32)).min(1));

const botIdList = stringList.pipe(z.array(z.string().regex(/^B[A-Z0-9]+$/)));

/** Workspace and organisation ids separated by commas; `*` stands for any. */
const workspaceIdList = stringList.pipe(z.array(z.string().regex(/^([TE][A-Z0-9]+|\*)$/)));

/** Registries of publications separated by commas. */
const registryList = stringList.pipe(z.array(z.enum(REGISTRIES)));

/** More than anyone needs of anything, and what dates and the database still take. */
const nonNegativeInteger = z.coerce.number().int().nonnegative().max(1_000_000);

const channelId = z.string().regex(/^[CG][A-Z0-9]+$/);

/** Channel ids separated by commas; `none` for no channel, undefined for all. */
const channelList = z
  .string()
  .transform((text) => words(text).filter((word) => word !== 'none'))
  .pipe(z.array(channelId))
  .optional();

/** An `@` behind a `/` or `#`, or behind the `?` of an address that has a password but no host so far: it ends a password. */
const UNENCODED_PASSWORD = [
  /^\w+:\/\/[^?]*[/#][^?]*@/,
  /^\w+:\/\/[^@/?#[,]*:[^@/?#,]*[^@/?#,\d][^@/?#,]*\?.*@/,
];

/** Whether the user and the password of an address can be decoded. */
function hasDecodablePassword({ username, password }: URL): boolean {
  try {
    for (const part of [username, password]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** One or several hosts, separated by commas, or none, like that of libpq. */
const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  .refine((text) => {
    const url = URL.parse(
      text.replace(/^(\w+:\/\/(?:[^/?#]*@)?[^/?#,]*)(?:,[^/?#]*)?/, '$1').replace('@/', '@localhost/'),
    );
    if (url === null || UNENCODED_PASSWORD.some((form) => form.test(text))) return false;
    return hasDecodablePassword(url);
  }, 'must be like postgres://user:password@host:5432/name, with special characters of the password percent-encoded');

const WEB_ADDRESS = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i;
/** The same without a path. */
const WEB_ORIGIN = /^https?:\/\/[^\s/?#@]+\/?$/i;

/** An address of the web without credentials, query or fragment. */
const webAddress = (example: string, form = WEB_ADDRESS) =>
  z.string().refine((text) => form.test(text) && URL.canParse(text), `must be like ${example}`);

/** The names of methods follow it. */
const slackApiUrl = webAddress('https://slack.com/api/').transform((url) => url.replace(/\/?$/, '/'));

/** An HTTP proxy; without a scheme, as curl and others take it. */
const proxyUrl = z
  .string()
  .transform((url) => (url.includes('://') ? url : `http://${url}`))
  .pipe(z.url({ protocol: /^https?$/, error: 'must be like http://proxy.example.org:3128', abort: true }))
  .refine((url) => hasDecodablePassword(new URL(url)), 'must have %25 for a % in its user or password');

const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');

/** Every setting, with what operators need to know about it. */
export const settingsSchema = z.object({
  SLACK_BOT_TOKEN: setting(token.startsWith('xoxb-').optional(), {
    what: 'Bot token (xoxb-…) if the app serves a single workspace. For several workspaces set SLACK_CLIENT_ID instead.',
    where: 'api.slack.com/apps, your app, "OAuth & Permissions", after "Install to Workspace"',
    secret: true,
    required: true,
  }),
  SLACK_APP_TOKEN: setting(token.startsWith('xapp-').optional(), {
    what: 'App-level token (xapp-…) with the scope connections:write. If set, events arrive by Socket Mode; otherwise by HTTP.',
    where: 'api.slack.com/apps, your app, "Basic Information", "App-Level Tokens"',
    secret: true,
  }),
  SLACK_SIGNING_SECRET: setting(z.string().min(1).optional(), {
    what: 'Signing secret. Required if events arrive by HTTP (without SLACK_APP_TOKEN).',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
    secret: true,
  }),
  SLACK_CLIENT_ID: setting(z.string().min(1).optional(), {
    what: 'Client ID for OAuth. If set, workspaces install the app at PUBLIC_URL/slack/install; INSTALL_WORKSPACES says which ones.',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
  }),
  SLACK_CLIENT_SECRET: setting(z.string().min(1).optional(), {
    what: 'Client secret for OAuth. Required with SLACK_CLIENT_ID.',
    where: 'api.slack.com/apps, your app, "Basic Information", "App Credentials"',
    secret: true,
  }),
  INSTALL_WORKSPACES: setting(workspaceIdList, {
    what: 'The only workspaces (T…) and organisations (E…) that may install the app by OAuth, separated by commas, or * for any. Required with SLACK_CLIENT_ID if AGENT_API_KEY is set, because every workspace then uses that key.',
  }),
  SLACK_CONFIG_TOKEN: setting(token.startsWith('xoxe.xoxp-').optional(), {
    what: "Configuration token (xoxe.xoxp-…), which lasts 12 hours. Only the doctor uses it, to compare the app at Slack with this release's manifest, and with --mend to update the app.",
    where: 'api.slack.com/apps, below the list of apps, "Your App Configuration Tokens"',
    secret: true,
  }),
  SLACK_API_URL: setting(slackApiUrl.default('https://slack.com/api/'), {
    what: "Address of Slack's Web API. Change it only for development and tests.",
  }),
  SLACK_DISTRIBUTED: setting(z.stringbool().default(false), {
    what: 'Whether the app is distributed outside the Slack Marketplace. Slack then allows it to read history only once a minute, 15 messages at a time, so that of a longer thread the first 15 are quoted.',
  }),
  AGENT_SESSIONS: setting(z.stringbool().default(false), {
    what: 'Whether the app is declared an agent in Slack (agent_view in its manifest). Slack then shows its status and a stop button of its own, and titles and suggested prompts in direct messages; guests cannot use the app.',
  }),
  DM_STREAMS: setting(z.stringbool().default(false), {
    what: "Whether replies in direct messages are streamed: Slack's own way of showing text while it is written, sooner than edits. Not seen in a live workspace yet; without the Agents feature (agent_view in its manifest), Slack may accept the text and show nothing until the reply ends.",
  }),
  AGENT_BASE_URL: setting(webAddress('https://agent.example.org/v1').optional(), {
    what: 'Address of the Agent Task Service, including its version (…/v1). May be left out together with AGENT_API_KEY if each workspace sets its own account (needs SECRET_KEY).',
    where: 'the account page of the service, or your contact there',
    required: true,
  }),
  AGENT_API_KEY: setting(token.optional(), {
    what: 'API key of the Agent Task Service, for every workspace without an account of its own.',
    where: 'the account page of the service, or your contact there',
    secret: true,
    required: true,
  }),
  PRIVATE_HOSTS: setting(hostList, {
    what: 'Hosts (names or addresses, separated by commas) that may have a private address or use plain http: those of the service and of its file links. All others must be public and use https.',
  }),
  ACCOUNT_HOSTS: setting(hostList, {
    what: 'The same for service accounts that workspace admins set. An admin can make the app send requests to these hosts.',
  }),
  AGENT_DIALECT: setting(agentDialectSetting, {
    what: "Choices that the service's documentation leaves open, as a JSON object. The table of assumptions lists the names. Write no quotes around it in a file for docker run --env-file, which keeps them.",
  }),
  AGENT_SKILL: setting(z.string().min(1).optional(), {
    what: 'Skill (ID or name) to run with every message. None if not set.',
  }),
  PROMPTS_FILE: setting(z.string().min(1).optional(), {
    what: 'JSON file with up to 20 prompts that people can choose where they ask: a list of objects with title, line (what it does), and prompt, skill or both (75, 75 and 1,000 characters). It is read at the start. Channels can add their own.',
  }),
  CHECK_SOURCES: setting(registryList, {
    what: 'Registries that are asked about the papers that an answer names, separated by commas: crossref (also asks doi.org), pubmed. Only the DOIs and PMIDs leave, and CHECK_SOURCES_MAILTO. None if not set.',
  }),
  CHECK_SOURCES_MAILTO: setting(z.email().optional(), {
    what: 'E-mail address of yours for the registries of CHECK_SOURCES, with each request: Crossref then answers faster, and NCBI asks for it. Register it with NCBI for pubmed.',
  }),
  PORT: setting(nonNegativeInteger.max(65_535).default(3000), {
    what: 'Port for events by HTTP, /healthz and /readyz. 0 picks a free one.',
  }),
  METRICS_PORT: setting(nonNegativeInteger.max(65_535).default(9464), {
    what: 'Port for /metrics, which should stay private. If it is taken, the app warns and starts without metrics. The value of PORT serves them there.',
  }),
  PUBLIC_URL: setting(webAddress('https://bot.example.org', WEB_ORIGIN).optional(), {
    what: 'Public address of PORT for Slack and browsers, without a path. Required for STABLE_LINKS and SLACK_CLIENT_ID. The doctor checks it, and requires it if events arrive by HTTP.',
  }),
  HOST: setting(
    z.string().regex(HOST_ONLY, 'must be an address alone, such as 127.0.0.1 or ::').default('::'),
    {
      what: "Address to listen on. :: means all of this machine's, also without IPv6; 0.0.0.0 those of IPv4.",
    },
  ),
  HTTPS_PROXY: setting(proxyUrl.optional(), {
    what: 'HTTP proxy (http://host:port, or host:port) through which Taskthread reaches Slack and the service, by CONNECT. It looks names up by itself, so it must lead to no private network. The doctor reaches PUBLIC_URL through it, too: from outside, like Slack. `https_proxy` is read as well.',
    secret: true,
  }),
  NO_PROXY: setting(z.string().default(''), {
    what: 'Hosts that are reached without HTTPS_PROXY: names, .domains, addresses and ranges of addresses (10.0.0.0/8), separated by commas. `no_proxy` is read as well.',
  }),
  SECRET_KEY: setting(secretKeyList.optional(), {
    what: 'At least 32 random characters, the same for all processes. Encrypts the tokens and keys of workspaces and the standing instructions and prompts of channels, and signs links. Required for SLACK_CLIENT_ID, STABLE_LINKS, accounts of workspaces, and instructions and prompts of channels. It may be several, with commas between: the first encrypts, all decrypt. docs/operations.md tells how to change it.',
    where: 'the command openssl rand -hex 32',
    secret: true,
  }),
  LOG_LEVEL: setting(logLevel, { what: 'Lowest level to log: fatal to trace, or silent.' }),
  DRAIN_SECONDS: setting(nonNegativeInteger.default(8), {
    what: 'How long running turns may take to hand over when the process is asked to stop, in seconds.',
  }),
  DATABASE_URL: setting(databaseUrl.optional(), {
    what: 'PostgreSQL database, such as postgres://user:password@host/name. If not set, the app runs an embedded PostgreSQL in DATA_FOLDER.',
    secret: true,
  }),
  DATABASE_DIRECT_URL: setting(databaseUrl.optional(), {
    what: 'Address of the PostgreSQL server itself, if DATABASE_URL is that of a pooler such as pgbouncer. The app migrates through this one.',
    secret: true,
  }),
  // With fewer than five, turns have one: a token's renewal would hold it, and wait for another.
  DATABASE_CONNECTIONS: setting(nonNegativeInteger.min(5).default(9), {
    what: 'Most connections of each process to the database. One is for leases, one shows other processes that this one lives; turns never use those for acknowledgements. At least 5.',
  }),
  DATA_FOLDER: setting(z.string().min(1).default('./data'), { what: 'Folder of the embedded PostgreSQL.' }),
  ALLOWED_USERS: setting(z.enum(['members', 'guests', 'everyone']).default('members'), {
    what: 'Who may use the agent: members (full members of the workspace), guests (also guests) or everyone (also people of other organisations and workspaces in shared channels). What admins set in App Home, or for a channel, takes precedence.',
  }),
  ALLOWED_BOTS: setting(botIdList, {
    what: 'Other bots and workflows that may use the agent by mentioning it: their IDs (B…), separated by commas. None if not set. What is set for a workspace or a channel takes precedence.',
  }),
  LISTEN_MODE: setting(z.enum(['mentions', 'conversation', 'replies']).default('conversation'), {
    what: "Which replies in people's threads go to the agent: mentions (those that mention the bot), conversation (also those of a person who has turned to it there, until someone else writes) or replies (every reply). What admins set in App Home, or for a channel, takes precedence.",
  }),
  TASK_CONTROL: setting(z.enum(['starter', 'channel', 'admins']).default('channel'), {
    what: "Who may stop and change tasks, by buttons, the stop word or an emoji: starter (who began the thread or asked, and admins), channel (any full member in the channel, and others who may use the agent there) or admins. A channel's own setting takes precedence.",
  }),
  STOP_WORDS: setting(phraseList, {
    what: 'Words that stop the agent as a whole message, beside stop and its like in English: in other languages, separated by commas, such as stopp,halt bitte.',
  }),
  ANSWERS_IN: setting(channelList, {
    what: 'The only channels in which the app answers, in all workspaces: their IDs (C…), separated by commas, or none for no channel. Wherever it is invited if not set. Admins can narrow this in App Home, never widen it. It does not concern direct and group messages.',
    where: "the channel's details in Slack, at the bottom",
  }),
  DIRECT_MESSAGES: setting(z.stringbool().default(true), {
    what: 'Whether the app answers direct messages. Admins can turn them off in App Home, but not on again.',
  }),
  GROUP_MESSAGES: setting(z.stringbool().default(true), {
    what: 'Whether the app answers in group messages, the conversations of a few people without a name. Admins can turn them off in App Home, but not on again.',
  }),
  FEEDBACK_CHANNEL: setting(channelId.optional(), {
    what: 'ID (C…) of a channel with the bot in it, where new comments on answers of its workspace are posted. None if not set.',
    where: "the channel's details in Slack, at the bottom",
  }),
  TURNS_PER_HOUR_PERSON: setting(nonNegativeInteger.default(60), {
    what: 'Most messages per person and hour. 0 means no limit.',
  }),
  TURNS_PER_HOUR_WORKSPACE: setting(nonNegativeInteger.optional(), {
    what: 'Most messages per workspace and hour. 0 means no limit. If not set, 600 for workspaces that install the app by OAuth and share AGENT_API_KEY; else no limit.',
  }),
  RECORD_FILES_MIB: setting(z.coerce.number().nonnegative().max(900).default(200), {
    what: "Most of a task's files that its record holds, in MiB; the others are named in it. 0 means none. Slack takes files of up to 1 GB.",
  }),
  FILE_TYPES: setting(fileTypeList, {
    what: 'File types to pass to the agent, such as .csv,image/*,text/plain, or with ! those never to pass, such as !.zip,!audio/*. If none is named without !, all others.',
  }),
  STABLE_LINKS: setting(z.stringbool().default(false), {
    what: "Whether links to results go through PUBLIC_URL and last 7 days, instead of the service's short-lived links. Anyone with such a link can read the file.",
  }),
  KEEP_WORDS_DAYS: setting(nonNegativeInteger.default(7), {
    what: 'Days until texts of messages, titles of tasks, names of files and comments are deleted from the database. Until then a failed message can be sent again.',
  }),
  KEEP_ROWS_DAYS: setting(nonNegativeInteger.min(2).default(90), {
    what: 'Days until records of messages, turns and posts are deleted.',
  }),
  KEEP_AUDIT_DAYS: setting(nonNegativeInteger.min(1).default(365), {
    what: 'Days until rows of the audit trail are deleted, and threads that nobody has used since. A thread is kept for KEEP_ROWS_DAYS at least.',
  }),
});

/** The groups of settings, by the first of each. */
export const settingGroups: ReadonlyMap<string, string> = new Map([
  ['SLACK_BOT_TOKEN', 'Slack'],
  ['AGENT_BASE_URL', 'The agent service'],
  ['PORT', 'The process'],
  ['DATABASE_URL', 'The database'],
  ['ALLOWED_USERS', 'Who may use it, and where'],
  ['TURNS_PER_HOUR_PERSON', 'How much'],
  ['RECORD_FILES_MIB', 'Files'],
  ['KEEP_WORDS_DAYS', 'What is kept'],
]);

/** What became of settings of earlier releases: the end of a sentence that begins with the name. */
export const formerSettings: ReadonlyMap<string, string> = new Map([
  ['ADMITS', 'is now called ALLOWED_USERS: rename it.'],
  ['ADMITS_BOTS', 'is now called ALLOWED_BOTS: rename it.'],
  ['CONTROLS_BY', 'is now called TASK_CONTROL: rename it.'],
  ['DATABASE_LISTEN_URL', 'is now called DATABASE_DIRECT_URL: rename it.'],
  ['DATABASE_LISTEN_URL_FILE', 'is now called DATABASE_DIRECT_URL_FILE: rename it.'],
  ['FILE_TYPES_ALLOWED', 'is now called FILE_TYPES: rename it.'],
  ['FILE_TYPES_REFUSED', 'is part of FILE_TYPES now: add its types there, each with ! before it.'],
  ['LISTENS_TO', 'is now called LISTEN_MODE: rename it.'],
  // These are limits now (`src/limits.ts`), or have no choice left.
  ...words(`AGENT_READS_PER_SECOND BACKGROUND_WAIT_SECONDS FILE_LIMIT_MIB FILES_LIMIT_MIB FILES_MOST GAP_MINUTES
    INLINE_LIMIT_MIB KEEP_UNINSTALLED_DAYS LOG_NUMBERS PASS_ON_SECONDS REMIND_SECONDS REPLY_BLOCKS
    REPLY_MESSAGES RESEND_SECONDS SILENCE_SECONDS SLACK_EDITS_PER_MINUTE SLACK_SOCKETS STOP_REACTION TABLE_LIMIT_KIB
    TRANSCRIPT_CHARACTERS TRANSCRIPT_MESSAGES TURNS_AT_ONCE_PERSON TURNS_AT_ONCE_WORKSPACE WAITING_SECONDS
    WATCH_MINUTES WATCH_SECONDS`).map(
    (name) => [name, 'is no setting any more: remove it. Its value is fixed.'] as const,
  ),
]);

/** All settings of the app, validated. */
export type Config = z.output<typeof settingsSchema>;

/** Messages an hour: workspaces that install the app themselves must not use up the operator's key. */
export function defaultWorkspaceQuota({ SLACK_CLIENT_ID, AGENT_API_KEY }: Config): number {
  return SLACK_CLIENT_ID !== undefined && AGENT_API_KEY !== undefined ? 600 : 0;
}

/** What operators need to know, by setting. */
export const settingNotes: ReadonlyMap<string, SettingNote> = new Map(
  Object.entries(settingsSchema.shape).map(([name, schema]) => [name, notes.get(schema) ?? { what: '' }]),
);
