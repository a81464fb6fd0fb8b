import type { Root } from 'mdast';
import type { BotState } from '../bot-state.ts';

/** The data that the server sends to the page. Types only: both sides import them. */

export type Fields = Record<string, unknown>;

export interface PersonModel {
  id: string;
  name: string;
  realName: string;
  kind: 'member' | 'guest' | 'stranger' | 'bot';
}

export interface ChannelModel {
  id: string;
  kind: 'channel' | 'group' | 'im' | 'mpim';
  /** The displayed name, without `#`. */
  name: string;
  purpose: string;
  members: string[];
  archived: boolean;
}

/** A command or shortcut that the app's manifest declares. */
export interface ManifestCommand {
  /** `/agent`, or the callback id of a shortcut. */
  id: string;
  name: string;
  description: string;
  hint: string;
}

export interface FileModel {
  id: string;
  name: string;
  mime: string;
  /** Bytes; absent if the file is deleted. */
  size?: number;
  /** On the page's own server; absent if the file is deleted. */
  url?: string;
}

export type BlockModel = { type: string } & Fields;

export interface MessageModel {
  channel: string;
  ts: string;
  user: string;
  /** Slack's mrkdwn. */
  text: string;
  /** Blocks of type `markdown` include their parsed `tree`. */
  blocks?: BlockModel[];
  files: FileModel[];
  /** The root's ts, for a reply. */
  thread?: string;
  subtype?: string;
  edited: boolean;
  /** What **Copy link** gives; absent for a message that only one person sees. */
  permalink?: string;
  /** Whether it is a deleted root that still has replies. */
  deleted: boolean;
  /** Whether only this person sees it. */
  ephemeral: boolean;
  reactions: { name: string; users: string[] }[];
  /** The app's status for the thread of this root: `processing`, or its own text. */
  status?: string;
}

/** A `markdown` block with its syntax tree. */
export interface MarkdownBlock extends Fields {
  type: 'markdown';
  text: string;
  tree: Root;
}

export interface ViewModel {
  id: string;
  hash: string;
  blocks: BlockModel[];
  title: string;
  /** Absent if the modal has nothing to submit. */
  submit?: string;
  close: string;
}

/** What only one person sees. */
export interface PrivateModel {
  ephemerals: MessageModel[];
  modal?: ViewModel;
  home?: ViewModel;
}

export interface CallModel {
  side: 'slack' | 'service' | 'registry';
  name: string;
  ok: boolean;
  /** HTTP status; 0 if no response arrived. */
  status: number;
  error?: string;
  ms: number;
  /** Unix time in ms. */
  at: number;
}

/** A fault that people can switch on. */
export interface FaultSwitch {
  id: string;
  side: 'slack' | 'service' | 'registry';
  name: string;
  /** The effect while it is on. */
  description: string;
  on: boolean;
}

export interface WorkspaceModel {
  team: string;
  bot: string;
  people: PersonModel[];
  channels: ChannelModel[];
}

/** Data that does not change while the sandbox runs. */
export interface StaticInfo {
  commands: ManifestCommand[];
  shortcuts: ManifestCommand[];
  messageShortcuts: ManifestCommand[];
  sample: { name: string; bytes: number };
  /** The chat.update calls that Slack allows per minute. */
  editsPerMinute: number;
  slackApiUrl: string;
  serviceUrl: string;
}

export type LiveEvent =
  | {
      kind: 'start';
      me: string;
      staticInfo: StaticInfo;
      workspace: WorkspaceModel;
      messages: MessageModel[];
      privateView: PrivateModel;
      calls: CallModel[];
      bot: BotState | undefined;
      switches: FaultSwitch[];
    }
  | { kind: 'workspace'; workspace: WorkspaceModel }
  | { kind: 'message'; message: MessageModel }
  | { kind: 'deleted'; channel: string; ts: string }
  | { kind: 'private'; privateView: PrivateModel }
  | { kind: 'call'; call: CallModel }
  | { kind: 'bot'; bot: BotState }
  | { kind: 'switches'; switches: FaultSwitch[] };

/** The outcome of an action. */
export interface ActionResult {
  ok: boolean;
  /** The error for the person, if it failed. */
  error?: string;
  /** The errors of a modal's fields, by block_id. */
  errors?: Record<string, string>;
  /** The ts of the posted message. */
  ts?: string;
}
