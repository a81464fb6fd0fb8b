import type { AppInstallation } from './app-installation.ts';
import type { FileContent } from './file-content.ts';

/** A Block Kit block; block-validation.ts checks its content. */
export interface Block {
  type: string;
  [field: string]: unknown;
}

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Parses JSON; returns invalid JSON unchanged. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A workspace with everything in it, and its installation of the app. */
export interface Team {
  id: string;
  name: string;
  domain: string;
  /** All workspaces of an organisation share one. */
  installation: AppInstallation;
  /** The organisation has removed the app from this workspace. */
  isWithdrawn: boolean;
  bot: { userId: string; botId: string; appId: string; name: string };
  people: Map<string, Person>;
  channels: Map<string, Channel>;
}

export type PersonKind = 'member' | 'guest' | 'stranger' | 'bot';

export interface Person {
  id: string;
  /** The workspace in which this person appears; a stranger's home workspace is another one. */
  teamId: string;
  homeTeamId: string;
  name: string;
  realName: string;
  kind: PersonKind;
  /** The organisation (Enterprise Grid) of this workspace; the person's home may be another of its workspaces. */
  organisation?: string;
  /** An admin of the workspace. */
  admin: boolean;
  /** Set for a bot of another app. */
  botId?: string;
  deleted: boolean;
}

export type ChannelKind = 'channel' | 'group' | 'im' | 'mpim';

export interface Channel {
  id: string;
  teamId: string;
  name: string;
  previousNames: string[];
  kind: ChannelKind;
  topic: string;
  purpose: string;
  /** Unix time in seconds. */
  created: number;
  creator: string;
  members: Set<string>;
  archived: boolean;
  /** A Slack Connect channel. */
  shared: boolean;
  /** The other workspaces of a Slack Connect channel in which the app is installed. */
  connectedTeams: string[];
  /** By ts, oldest first. */
  messages: Map<string, Message>;
  /** The ts of each thread's replies, by the root's ts. */
  threads: Map<string, string[]>;
  /** ts of posts by `user client_msg_id`. */
  clientMsgIds: Map<string, string>;
  ephemerals: Ephemeral[];
}

/** The content of a message from `at` (Unix time in ms) on. */
export interface Version {
  at: number;
  text: string;
  blocks: Block[] | undefined;
}

export interface Message {
  ts: string;
  channel: string;
  teamId: string;
  user: string;
  botId?: string | undefined;
  appId?: string | undefined;
  subtype?: string | undefined;
  text: string;
  blocks: Block[] | undefined;
  attachments?: unknown[] | undefined;
  fileIds: string[];
  /** The root's ts, for a reply. */
  threadTs?: string | undefined;
  clientMsgId?: string | undefined;
  metadata?: Fields | undefined;
  /** Fields that Slack gives in this form instead, as for old integrations: `text: null`. */
  odd?: Fields | undefined;
  edited?: { user: string; ts: string };
  /** The open stream into this message; it expires at `until` (Unix time in ms). */
  stream?: { markdown: string; blocks: Block[]; until: number };
  /** Person ids by emoji name. */
  reactions: Map<string, string[]>;
  /** Every version, oldest first. */
  versions: Version[];
  /** Unix time in ms. */
  deletedAt?: number;
}

/** A message that only one person sees. */
export interface Ephemeral {
  ts: string;
  user: string;
  text: string;
  blocks: Block[] | undefined;
  threadTs?: string;
}

export type FileKind =
  | 'hosted'
  | 'snippet'
  /** Stored at a third party; the bot's token gives no access. */
  | 'external'
  /** Deleted. */
  | 'tombstone'
  /** Hidden by the free plan's limit. */
  | 'hidden_by_limit'
  /** Slack Connect: the event carries only the id; files.info has the rest. */
  | 'connect_stub'
  /** Incomplete at first: the event has no url_private. */
  | 'processing'
  /** Downloads as a web page that Slack writes anew, of another size. */
  | 'canvas'
  /** An e-mail that was forwarded into Slack, with its words in the file object. */
  | 'email'
  /** Of a mode that nobody has documented; downloads like a file. */
  | 'new_mode'
  /** The file object's `size` is 0. */
  | 'uncounted'
  /** The download claims to be a web page. */
  | 'as_page'
  /** Kinds that Slack stores like files but lets nobody download. */
  | 'list'
  | 'post'
  /** Each connection is cut after a third of the file; range requests work. */
  | 'breaks_off'
  /** Like `breaks_off`, and the content changes afterwards. */
  | 'changes'
  /** The download returns 200 with a login page in HTML. */
  | 'withheld'
  /** The download redirects (302) to the login page. */
  | 'redirect'
  /** The download redirects (302) to another address of Slack, which wants the token, too: as in organisations. */
  | 'elsewhere'
  /** Content-Length is larger than the content; then the connection is cut. */
  | 'lying_length'
  /** The file object's `size` is not the number of bytes. */
  | 'lying_size';

/** What Slack's file object says of an e-mail beside its words, which are the file's bytes. */
export interface EmailHead {
  subject: string;
  /** Addresses as `Name <name@host>`. */
  from: string;
  to: string[];
  cc?: string[];
  date: string;
  attachments?: string[];
}

export interface SlackFile {
  id: string;
  teamId: string;
  user: string;
  name: string | null;
  title: string;
  mime: string;
  kind: FileKind;
  email?: EmailHead | undefined;
  /** What Slack has written down of a voice clip. */
  transcript?: string | undefined;
  content: FileContent;
  /** Unix time in ms. */
  created: number;
  /** Unix time in ms from which a `processing` file is ready. */
  readyAt: number;
  /** Channel id and ts of each message that contains it. */
  shares: { channel: string; ts: string; threadTs?: string | undefined }[];
  /** Whether its owner deleted it. */
  isDeleted?: boolean;
  /** Whether a person added it to a modal's file input. */
  givenToApp?: boolean;
}
