import * as strings from '../strings/index.ts';
import { type PlainText, plainText, type SectionBlock, sectionBlock } from './slack-blocks.ts';

/** A modal (https://docs.slack.dev/reference/views/modal-views: 100 blocks, a title of 24 characters). */
export interface Modal<Block> {
  type: 'modal';
  title: PlainText;
  close: PlainText;
  blocks: Block[];
}

/** A modal with a Close button. */
export function createModal<Block>(title: string, blocks: Block[]): Modal<Block> {
  return { type: 'modal', title: plainText(title), close: plainText(strings.buttons.close), blocks };
}

/** A modal with one sentence, while its content loads or instead of it. */
export function noticeModal(title: string, sentence: string): Modal<SectionBlock> {
  return createModal(title, [sectionBlock(sentence)]);
}
