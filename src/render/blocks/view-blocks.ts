import {
  type ActionsBlock,
  type ButtonElement,
  type ContextBlock,
  type MrkdwnText,
  type PlainText,
  plainText,
  type SectionBlock,
} from './slack-blocks.ts';

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

/** A button; `value` comes back with the press. */
export function button(actionId: string, text: string, value: string): ButtonElement {
  return { type: 'button', action_id: actionId, text: plainText(text), value };
}

/** A row of buttons. */
export function actionsBlock(elements: ButtonElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

/** A paragraph in Slack's markup. */
export function mrkdwnSection(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text } };
}

/** Small grey plain text. */
export function contextBlock(text: string): ContextBlock {
  return { type: 'context', elements: [plainText(text)] };
}
