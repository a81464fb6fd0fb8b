import type { KnownBlock } from '@slack/types';
import * as strings from '../strings/index.ts';
import { type PlainText, plainText, sectionBlock } from './slack-blocks.ts';

/** A block of a modal or of App Home; a heading has at most 150 characters. */
export type ViewBlock = KnownBlock;

/**
 * A modal (https://docs.slack.dev/reference/views/modal-views): 100 blocks; its title and buttons have at most 24
 * characters, its metadata 3,000.
 */
export interface Modal {
  type: 'modal';
  title: PlainText;
  close: PlainText;
  blocks: ViewBlock[];
  callback_id?: string;
  private_metadata?: string;
  submit?: PlainText;
}

/** A modal with a Close button. */
export function createModal(title: string, blocks: ViewBlock[]): Modal {
  return { type: 'modal', title: plainText(title), close: plainText(strings.buttons.close), blocks };
}

/** A modal with one sentence, while its content loads or instead of it. */
export function noticeModal(title: string, sentence: string): Modal {
  return createModal(title, [sectionBlock(sentence)]);
}
