import type { ActionsBlock, ContextBlock, MrkdwnText, PlainText, SectionBlock } from './slack-blocks.ts';

/** A heading of at most 150 characters. */
export interface HeaderBlock {
  type: 'header';
  text: PlainText;
}

export interface DividerBlock {
  type: 'divider';
}

/** A section with a channel picker. */
export interface ChannelSelectBlock {
  type: 'section';
  block_id?: string;
  text: PlainText | MrkdwnText;
  accessory: {
    type: 'conversations_select';
    action_id: string;
    placeholder: PlainText;
    initial_conversation?: string;
    filter: { include: ('public' | 'private' | 'mpim' | 'im')[]; exclude_bot_users: boolean };
  };
}

/** The blocks of modals and App Home. */
export type ViewBlock =
  | SectionBlock
  | ContextBlock
  | ActionsBlock
  | HeaderBlock
  | DividerBlock
  | ChannelSelectBlock;
