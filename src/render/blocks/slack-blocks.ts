import type * as types from '@slack/types';
import { neutralizePings, restorePings, truncateBytes } from '../markdown/pings.ts';
import { MAX_SHOWN_SIZE, shownSize } from '../markdown/shown-size.ts';
import * as strings from '../strings/index.ts';
import { shorten, shortenMiddle, toOneLine } from '../text-format.ts';

/** The action id of a button. */
export type ButtonId = keyof typeof strings.buttons;

/** Characters of all block text in one message (https://docs.slack.dev/reference/block-kit/blocks/markdown-block, with a margin). */
const MAX_MESSAGE_TEXT = 9_990;
/** Blocks of one message (https://docs.slack.dev/reference/block-kit/blocks). */
export const MAX_MESSAGE_BLOCKS = 50;

/** The steps of a run. */
export interface PlanBlock extends types.PlanBlock {
  tasks: types.TaskCardBlock[];
}

export type SlackBlock = Exclude<types.KnownBlock, types.PlanBlock> | PlanBlock;

/** UTF-8 bytes of a message's text, with room for a line above or below it, and of what its blocks say below an answer. */
const MAX_TEXT_BYTES = 3_700;
const MAX_LINES_BYTES = 1_000;

export interface RenderedMessage {
  /**
   * All that notifications show, and that screen readers read (https://docs.slack.dev/reference/methods/chat.postMessage);
   * mrkdwn, under 4,000 UTF-8 bytes (chat.update refuses more).
   */
  text: string;
  blocks: SlackBlock[];
  /** The range of the answer that it shows, in characters; `reopened` if it starts inside a block. */
  source?: { from: number; to: number; reopened: boolean };
  /** The Markdown that it shows of the answer so far, to which a stream adds more: without what only closes it. */
  markdown?: string;
  /** The same content without a block that Slack may refuse: some workspaces do not know it yet, or it has lost its file. */
  simpler?: { without: NewBlock | 'image'; message: RenderedMessage };
}

/** The blocks that Slack has had since 2026. Where it refuses one, `simpler` is sent. */
export const NEW_BLOCKS = ['plan', 'data_table'] as const;
export type NewBlock = (typeof NEW_BLOCKS)[number];

/** Characters of what a button says (https://docs.slack.dev/reference/block-kit/block-elements/button-element). */
const MAX_BUTTON_LABEL = 75;

const TEXT_FIELDS: ReadonlySet<string> = new Set(['text', 'title', 'caption']);

/** Characters of text in blocks (links are not text), or what else `sizeOf` counts of their texts. */
export function blockTextLength(blocks: unknown, sizeOf = (text: string) => text.length): number {
  if (typeof blocks !== 'object' || blocks === null) return 0;
  let length = 0;
  for (const [field, inner] of Object.entries(blocks))
    length +=
      typeof inner === 'string' && TEXT_FIELDS.has(field) ? sizeOf(inner) : blockTextLength(inner, sizeOf);
  return length;
}

/** Whether one message may hold these blocks. A Markdown block counts as one; splitting leaves room for five others. */
export function fitsMessage(blocks: readonly SlackBlock[]): boolean {
  if (blocks.length > MAX_MESSAGE_BLOCKS || blockTextLength(blocks) > MAX_MESSAGE_TEXT) return false;
  return blockTextLength(blocks, shownSize) <= MAX_SHOWN_SIZE;
}

/** A text that Slack shows literally: no formatting, no links, no emoji names. */
export function plainText(text: string): types.PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** A piece of Markdown as a block; none where it shows nothing. */
export function markdownBlocks(text: string): SlackBlock[] {
  return /\S/.test(text) ? [{ type: 'markdown', text }] : [];
}

/** A section of plain text. */
export function sectionBlock(text: string): types.SectionBlock {
  return { type: 'section', text: plainText(text) };
}

/** Longest text of a section (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
export const MAX_SECTION_CHARACTERS = 3_000;

/** A message of blocks, and of what they say as its text: of a long list the beginning, or with `shift` the end. */
export function messageOfBlocks(blocks: SlackBlock[], shortenBy: 'pop' | 'shift' = 'pop'): RenderedMessage {
  return { text: linesOf(blocks, MAX_TEXT_BYTES, shortenBy).join('\n'), blocks };
}

/** The text of a message, and below it what blocks say: of many lines the last ones. */
export function withLinesOf(text: string, blocks: readonly SlackBlock[]): string {
  return [text, ...linesOf(blocks, MAX_LINES_BYTES, 'shift')].join('\n');
}

/**
 * What sections, context lines and rich text (without quotations) say, as mrkdwn of at most `most` bytes: without the last
 * lines (`pop`) or the first ones (`shift`) where it is more. Each plain text takes four fifths of that at most.
 */
function linesOf(blocks: readonly SlackBlock[], most: number, shortenBy: 'pop' | 'shift'): string[] {
  const texts = blocks.flatMap((block) => {
    if (block.type === 'section') return block.text ?? [];
    if (block.type === 'context') return block.elements.flatMap((one) => ('text' in one ? one : []));
    if (block.type !== 'rich_text') return [];
    const pieces = block.elements.flatMap((one) => (one.type === 'rich_text_section' ? one.elements : []));
    return plainText(pieces.map((piece) => ('text' in piece ? piece.text : '')).join(''));
  });
  const mrkdwn = texts.map(({ type, text }) =>
    type === 'mrkdwn' ? text : truncateBytes(restorePings(text), 0.8 * most),
  );
  const lines = mrkdwn.flatMap((text) => (text === '' ? [] : text.split('\n')));
  while (Buffer.byteLength(lines.join('\n')) > most) lines[shortenBy]();
  return lines;
}

/** A message of one sentence, in which names and other words of people are text, whatever they hold. */
export function plainMessage(sentence: string): RenderedMessage {
  return messageOfBlocks([sectionBlock(shorten(sentence, MAX_SECTION_CHARACTERS))]);
}

/** A section of mrkdwn; the caller escapes what is untrusted. */
export function mrkdwnSection(text: string): types.SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text } };
}

/** A small grey line of plain text, which mentions nobody. */
export function contextLineBlock(text: string): types.ContextBlock {
  return { type: 'context', elements: [plainText(neutralizePings(text))] };
}

/** A small grey line of mrkdwn; the caller escapes what is untrusted. */
export function mrkdwnContextBlock(text: string): types.ContextBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text }] };
}

/** A button of the table of all buttons; its value comes back with the press. */
export function buttonElement(
  id: ButtonId,
  value: string,
  label: string = strings.buttons[id].label,
): types.Button {
  return { type: 'button', action_id: id, text: plainText(label), value };
}

/** The action id of every menu: the value of the chosen item begins with its own. */
export const MENU_ACTION = 'menu';

/**
 * A menu of up to five items of the table of all buttons; a value has at most 150 characters with the item's id
 * (https://docs.slack.dev/reference/block-kit/block-elements/overflow-menu-element).
 */
export function menuElement(ids: readonly ButtonId[], value: string): types.Overflow {
  const options = ids.map((id) => ({ text: plainText(strings.buttons[id].label), value: `${id}/${value}` }));
  return { type: 'overflow', action_id: MENU_ACTION, options };
}

/** A button that opens a web address, of at most 3,000 characters. */
export function linkButton(id: ButtonId, url: string): types.Button {
  return { type: 'button', action_id: id, text: plainText(strings.buttons[id].label), url };
}

/** A button of a list, as screen readers tell it from those beside it: by its label and the name of what it is about. */
export function namedButton(button: types.Button, name: string): types.Button {
  const label = `${button.text.text}: ${neutralizePings(toOneLine(name))}`;
  return { ...button, accessibility_label: shortenMiddle(label, MAX_BUTTON_LABEL) };
}

/** A button for what cannot be undone: Slack asks first, in a title of at most 100 characters, a text of 300 and answers of 30. */
export function dangerButton(
  button: types.Button,
  ask: { title: string; text: string; yes: string; no: string },
): types.Button {
  const confirm = {
    title: plainText(ask.title),
    text: plainText(ask.text),
    confirm: plainText(ask.yes),
    deny: plainText(ask.no),
    style: 'danger' as const,
  };
  return { ...button, style: 'danger', confirm };
}

/** A row of buttons and menus. */
export function actionsBlock(elements: types.ActionsBlockElement[]): types.ActionsBlock {
  return { type: 'actions', elements };
}
