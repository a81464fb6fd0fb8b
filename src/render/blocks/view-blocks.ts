import type {
  ConversationsSelect,
  DividerBlock,
  HeaderBlock,
  SectionBlock as Section,
  TextObject,
} from '@slack/types';
import type { ActionsBlock, ContextBlock, SectionBlock } from './slack-blocks.ts';

export type { HeaderBlock } from '@slack/types';

/** A section with a channel picker. */
export interface ChannelSelectBlock extends Section {
  text: TextObject;
  accessory: ConversationsSelect;
}

/** The blocks of modals and App Home; a heading has at most 150 characters. */
export type ViewBlock =
  | SectionBlock
  | ContextBlock
  | ActionsBlock
  | HeaderBlock
  | DividerBlock
  | ChannelSelectBlock;
