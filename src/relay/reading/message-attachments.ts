import { shorten, toOneLine } from '../../render/text-format.ts';
import type { MessageAttachment } from '../../slack/slack-message.ts';
import { parseEveryBlock, parseMrkdwn, parseShown } from './block-parser.ts';
import { type ParsedBlock, type ParsedInline, referencePiece, textOf, textPiece } from './parsed-blocks.ts';
import { linesOf } from './pasted-tables.ts';
import { timeOfTs } from './rich-text-parser.ts';
import { fileName } from './slack-file-names.ts';

/** Longer previews of links are cut (UTF-16 units). */
const MAX_PREVIEW_CHARACTERS = 500;
/** What Slack writes for an attachment that has no text, such as a table. */
const NO_FALLBACK = '[no preview available]';

/** What a message's attachments say, each by its kind: messages are quoted, and previews are marked as Slack's. */
export function attachmentBlocks(attachments: readonly MessageAttachment[]): ParsedBlock[] {
  return attachments.flatMap((attachment) => {
    if (attachment.is_left_out === true) return [line(`[Left out: ${attachmentName(attachment)}]`)];
    if (attachment.is_share === true) return [quotedMessage(attachment)];
    if (isMessagePreview(attachment)) return [];
    const address = attachment.from_url ?? attachment.original_url;
    return address === undefined ? appBlocks(attachment) : [preview(attachment, address)];
  });
}

/** What an attachment is, in a few words, such as “forwarded message from Ada”. */
export function attachmentName(attachment: MessageAttachment): string {
  const { author_name: author, from_url: address, title } = attachment;
  const writer = author === undefined || author === '' ? '' : ` from ${toOneLine(author)}`;
  if (attachment.is_share === true) return `forwarded message${writer}`;
  if (address !== undefined) return `preview of ${toOneLine(address)}`;
  return title === undefined ? `attachment${writer}` : `attachment “${toOneLine(title)}”`;
}

/** Whether an attachment is Slack's own preview of a message. */
export function isMessagePreview({ is_share, is_msg_unfurl }: MessageAttachment): boolean {
  return is_msg_unfurl === true && is_share !== true;
}

/** Whether an attachment is Slack's own preview of a link. */
export function isLinkPreview(attachment: MessageAttachment): boolean {
  const { is_share, from_url, original_url } = attachment;
  return isMessagePreview(attachment) || (is_share !== true && (from_url ?? original_url) !== undefined);
}

/** Another message, with its writer, channel and time as far as Slack gives them. */
function quotedMessage(attachment: MessageAttachment): ParsedBlock {
  const { author_id, author_name: author, channel_id: channel, channel_name, ts, files = [] } = attachment;
  const heading: ParsedInline[] = [textPiece('Forwarded message')];
  if (author_id !== undefined) heading.push(textPiece(' from '), referencePiece('person', author_id, author));
  else if (author) heading.push(textPiece(` from ${toOneLine(author)}`));
  if (channel?.startsWith('D') === true) heading.push(textPiece(' in a direct message'));
  else if (channel !== undefined)
    heading.push(textPiece(' in '), referencePiece('channel', channel, channel_name || undefined));
  if (ts !== undefined) heading.push(textPiece(`, ${timeOfTs(ts)} UTC`));
  const names = files.map((file) => toOneLine(fileName(file)));
  return {
    kind: 'quoted_blocks',
    blocks: [
      { kind: 'paragraph', content: [...heading, textPiece(':')] },
      ...quotedWords(attachment),
      ...(names.length === 0 ? [] : [line(`[files: ${names.join(', ')}]`)]),
    ],
  };
}

/** What was attached to a message that is attached. */
export function attachedInside({ message_blocks = [], attachments = [] }: MessageAttachment) {
  return [...message_blocks.flatMap(({ message }) => message?.attachments ?? []), ...attachments];
}

/** What another message shows, and what was attached to it. */
function quotedWords(attachment: MessageAttachment): ParsedBlock[] {
  const blocks = attachment.message_blocks?.flatMap(({ message }) => message?.blocks ?? []) ?? [];
  const shown = parseShown(blocks, attachment.text ?? '');
  const attached = attachedInside(attachment).flatMap(appBlocks);
  const fallback = shown.length + attached.length > 0 ? undefined : attachment.fallback;
  // Its words are shown already; its writer and time stand in the heading; its footer is Slack's own.
  const leftOut = { text: undefined, author_name: undefined, footer: undefined, ts: undefined };
  return [...shown, ...appBlocks({ ...attachment, ...leftOut, fallback }), ...attached];
}

/** Whether nothing can be read of another message: no words, no table and no file. */
export function isUnreadableQuote(attachment: MessageAttachment): boolean {
  const { is_left_out, files = [] } = attachment;
  if (is_left_out === true || attachment.is_share !== true) return false;
  return files.length === 0 && quotedWords(attachment).length === 0;
}

/** What an app attached, in the order in which Slack shows it. */
function appBlocks(attachment: MessageAttachment): ParsedBlock[] {
  const { pretext, author_name, title, title_link: link, text: words, fields = [], blocks = [] } = attachment;
  const { preview: record, image_url, actions = [], footer, ts, fallback: written = '' } = attachment;
  const heading = title && (link ? `<${link}|${toOneLine(title)}>` : bold(toOneLine(title)));
  const values = fields.map(({ title: name, value }) =>
    [name && bold(name), value].filter(Boolean).join(': '),
  );
  const texts = [pretext, author_name, heading, words, values.join('\n')];
  const said = [...parseMrkdwn(texts.filter(Boolean).join('\n\n')), ...parseEveryBlock([...blocks, record])];
  const fallback = written === NO_FALLBACK ? '' : written;
  const hasOnlyFallback = !(pretext || title || words || record) && fields.length + blocks.length === 0;
  // Where a picture is all that it shows, the fallback is the picture's name.
  if (hasOnlyFallback && image_url === undefined) said.push(...parseMrkdwn(fallback));
  const alt_text = hasOnlyFallback ? fallback : title;
  const picture = image_url === undefined ? [] : [{ type: 'image', image_url, alt_text }];
  const shown = [...said, ...parseEveryBlock([...picture, ...actions])];
  const time = timeOfTs(ts ?? '');
  const below = [footer, time && `${time} UTC`].filter(Boolean).join(', ');
  return [...(shown.length > 0 ? shown : parseMrkdwn(fallback)), ...parseMrkdwn(below)];
}

/** Mrkdwn in bold, unless marks of data in it would end that. */
function bold(mrkdwn: string): string {
  return /[*~]/.test(mrkdwn) ? mrkdwn : `*${mrkdwn}*`;
}

/** Slack's preview of a link: what an app shows of it as it is, anything else in a line. */
function preview(attachment: MessageAttachment, address: string): ParsedBlock {
  const heading = `Slack's preview of ${toOneLine(address)}`;
  const isByApp = attachment.is_app_unfurl === true;
  // The picture of a page is an ornament.
  const said = appBlocks(isByApp ? attachment : { ...attachment, image_url: undefined });
  if (isByApp && said.length > 0) return { kind: 'quoted_blocks', blocks: [line(`${heading}:`), ...said] };
  const texts = said.flatMap(linesOf).flatMap((pieces) => textOf(pieces).split(/\n{2,}/));
  const shown = shorten(toOneLine(texts.join(' – ')), MAX_PREVIEW_CHARACTERS);
  return line(`[${heading}${shown === '' ? '' : `: ${shown}`}]`);
}

function line(words: string): ParsedBlock {
  return { kind: 'paragraph', content: [textPiece(words)] };
}
