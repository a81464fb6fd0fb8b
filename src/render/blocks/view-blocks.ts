import type { ActionsBlock, ContextBlock, MrkdwnText, PlainText, SectionBlock } from './slack-blocks.ts';

/** A heading of 150 characters at most. */
export interface HeaderBlock {
  type: 'header';
  text: PlainText;
}

export interface DividerBlock {
  type: 'divider';
}

/** A section with a list of channels to choose from. */
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

/** What our views are made of. */
export type ViewBlock =
  | SectionBlock
  | ContextBlock
  | ActionsBlock
  | HeaderBlock
  | DividerBlock
  | ChannelSelectBlock;
