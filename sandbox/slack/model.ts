import type { AppInstallation } from './app-installation.ts';
import type { FileContent } from './file-content.ts';

/** A Block Kit block; what it may hold is checked by blocks.ts. */
export interface Block {
  type: string;
  [field: string]: unknown;
}

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An installation of the app in one workspace, and all that lives in that workspace. */
export interface Team {
  id: string;
  name: string;
  domain: string;
  /** What the app may do here; all workspaces of an organisation share one. */
  installation: AppInstallation;
  /** The organisation took the app from this workspace. */
  isWithdrawn: boolean;
  bot: { userId: string; botId: string; appId: string; name: string };
  people: Map<string, Person>;
  channels: Map<string, Channel>;
}

/** A `single_guest` is a guest in one channel only. */
export type PersonKind = 'member' | 'guest' | 'single_guest' | 'stranger' | 'bot';

export interface Person {
  id: string;
  /** The workspace in which this person is seen; a stranger's home is another one. */
  teamId: string;
  homeTeamId: string;
  name: string;
  realName: string;
  kind: PersonKind;
  /** The organisation (Enterprise Grid) that this workspace belongs to; the person's home may be another of its own. */
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
  /** By ts, oldest first. */
  messages: Map<string, Message>;
  /** The ts of each thread's replies, by the root's ts. */
  threads: Map<string, string[]>;
  /** ts of posts by `user client_msg_id`. */
  clientMsgIds: Map<string, string>;
  ephemerals: Ephemeral[];
}

/** What a message said from `at` (Unix time in ms) on. */
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
  botId?: string;
  appId?: string;
  subtype?: string;
  text: string;
  blocks: Block[] | undefined;
  attachments?: unknown[];
  fileIds: string[];
  /** The root's ts, for a reply. */
  threadTs?: string;
  clientMsgId?: string;
  metadata?: Fields;
  edited?: { user: string; ts: string };
  /** Text that is streamed into it; the stream's life ends at `until` (Unix time in ms) at the latest. */
  stream?: { markdown: string; blocks: Block[]; until: number };
  /** Person ids by name of the emoji. */
  reactions: Map<string, string[]>;
  /** Every text that was visible, oldest first. */
  versions: Version[];
  /** Unix time in ms. */
  deletedAt?: number;
}

/** A message that one person sees. */
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
  /** Lives at a third party; the bot's token does not open it. */
  | 'external'
  /** Deleted. */
  | 'tombstone'
  /** Hidden by the free plan's limit. */
  | 'hidden_by_limit'
  /** Slack Connect: the event carries only the id; files.info has the rest. */
  | 'connect_stub'
  /** Not ready at first: no url_private in the event, then complete. */
  | 'processing'
  /** What Slack keeps like files and hands out to nobody. */
  | 'canvas'
  | 'list'
  | 'post'
  /** Each connection is cut after a third of the file; ranges are answered. */
  | 'breaks_off'
  /** The same, and the file is another one afterwards. */
  | 'changes'
  /** The download answers 200 with a login page in HTML. */
  | 'no_scope'
  /** The download answers 302 to the login page. */
  | 'redirect'
  /** Content-Length promises more than is sent; then the connection is cut. */
  | 'lying_length'
  /** The file object's `size` is not the number of bytes. */
  | 'lying_size';

export interface SlackFile {
  id: string;
  teamId: string;
  user: string;
  name: string | null;
  title: string;
  mime: string;
  kind: FileKind;
  content: FileContent;
  /** Unix time in ms. */
  created: number;
  /** Unix time in ms from which a `processing` file is ready. */
  readyAt: number;
  /** Channel id and ts of each message that shows it. */
  shares: { channel: string; ts: string; threadTs?: string }[];
  /** Put into a modal's file input. */
  givenToApp?: boolean;
  deleted: boolean;
}
