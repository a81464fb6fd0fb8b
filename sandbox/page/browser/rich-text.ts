import type { Fields } from '../page-protocol.ts';
import { type Child, h } from './dom.ts';
import { isFields, objects, text } from './json-fields.ts';
import { link } from './links.ts';
import { broadcastMention, channelMention, emojiPicture, personMention } from './mentions.ts';

/** Renders a rich_text block: sections, lists, quotes and code. */
export function richText(block: Fields): Child[] {
  return objects(block.elements).map(part);
}

function part(one: Fields): Child {
  switch (one.type) {
    case 'rich_text_section':
      return h('p', {}, ...inlines(one));
    case 'rich_text_quote':
      return h('blockquote', {}, ...inlines(one));
    case 'rich_text_preformatted':
      return h(
        'pre',
        {},
        h(
          'code',
          {},
          objects(one.elements)
            .map((element) => text(element.text || element.url))
            .join(''),
        ),
      );
    case 'rich_text_list':
      return list(one);
    default:
      return h('p', { class: 'unknown' }, `Unknown rich text: ${text(one.type)}`);
  }
}

function list(one: Fields): HTMLElement {
  const tag = one.style === 'ordered' ? 'ol' : 'ul';
  const items = objects(one.elements).map((item) => h('li', {}, ...inlines(item)));
  const start = typeof one.offset === 'number' ? { start: one.offset + 1 } : {};
  return h(tag, { class: `indent-${Math.min(5, Number(one.indent) || 0)}`, ...start }, ...items);
}

function inlines(one: Fields): Child[] {
  return objects(one.elements).map(inline);
}

function inline(one: Fields): Child {
  const shown = bare(one);
  const style = isFields(one.style) ? one.style : {};
  let styled: Child = shown;
  if (style.code === true) styled = h('code', {}, styled);
  if (style.strike === true) styled = h('s', {}, styled);
  if (style.italic === true) styled = h('em', {}, styled);
  if (style.bold === true) styled = h('strong', {}, styled);
  return styled;
}

function bare(one: Fields): Child {
  switch (one.type) {
    case 'text':
      return text(one.text);
    case 'link':
      return link(one.url, text(one.text) || text(one.url));
    case 'user':
      return personMention(text(one.user_id));
    case 'channel':
      return channelMention(text(one.channel_id));
    case 'usergroup':
      return broadcastMention('a group');
    case 'broadcast':
      return broadcastMention(text(one.range));
    case 'emoji':
      return emojiPicture(text(one.name));
    default:
      return text(one.text);
  }
}
