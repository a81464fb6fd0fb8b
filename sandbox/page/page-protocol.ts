import type { Root } from 'mdast';
import type { BotState } from '../bot-state.ts';

/** What the server tells the page, and the page asks of the server. Types only: both sides import them. */

export type Fields = Record<string, unknown>;

export interface PersonModel {
  id: string;
  name: string;
  realName: string;
  kind: 'member' | 'guest' | 'single_guest' | 'stranger' | 'bot';
}

export interface ChannelModel {
  id: string;
  kind: 'channel' | 'group' | 'im' | 'mpim';
  /** As people call it, without a mark before it. */
  name: string;
  purpose: string;
  members: string[];
  archived: boolean;
}

/** A command or shortcut that the app's manifest offers. */
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
  /** Bytes; absent where the file is gone. */
  size?: number;
  /** On the page's own server; absent where there is nothing to open. */
  url?: string;
}

export type BlockModel = { type: string } & Fields;

export interface MessageModel {
  channel: string;
  ts: string;
  user: string;
  /** Slack's mrkdwn. */
  text: string;
  /** Those of type `markdown` carry their parsed `tree`. */
  blocks?: BlockModel[];
  files: FileModel[];
  /** The root's ts, for a reply. */
  thread?: string;
  subtype?: string;
  edited: boolean;
  /** A root that was deleted and still has replies. */
  deleted: boolean;
  /** Only the person who looks sees it. */
  ephemeral: boolean;
  reactions: { name: string; users: string[] }[];
  /** What the app shows for the thread of this root: `processing`, or words of its own. */
  status?: string;
}

/** A `markdown` block with what the server read in it. */
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
  /** Absent where the modal has nothing to submit. */
  submit?: string;
  close: string;
}

/** What one person alone sees. */
export interface PrivateModel {
  ephemerals: MessageModel[];
  modal?: ViewModel;
  home?: ViewModel;
}

export interface CallModel {
  side: 'slack' | 'service';
  name: string;
  ok: boolean;
  /** HTTP status; 0 where the answer never arrived. */
  status: number;
  error?: string;
  ms: number;
  /** Unix time in ms. */
  at: number;
}

/** A fault or an accident that people can cause. */
export interface FaultSwitch {
  id: string;
  side: 'slack' | 'service';
  name: string;
  /** What happens while it is on. */
  what: string;
  on: boolean;
}

export interface WorkspaceModel {
  team: string;
  bot: string;
  people: PersonModel[];
  channels: ChannelModel[];
}

/** What never changes while the sandbox runs. */
export interface StaticInfo {
  commands: ManifestCommand[];
  shortcuts: ManifestCommand[];
  messageShortcuts: ManifestCommand[];
  sample: { name: string; bytes: number };
  /** chat.update calls a minute that Slack allows. */
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

/** What came of a deed. */
export interface ActionResult {
  ok: boolean;
  /** What to tell the person where it is not ok. */
  error?: string;
  /** The problems of a modal's fields, by block_id. */
  errors?: Record<string, string>;
  /** The ts of what was said. */
  ts?: string;
}
