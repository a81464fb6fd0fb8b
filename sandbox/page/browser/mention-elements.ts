import { type Child, h } from './dom.ts';
import { emoji } from './emoji.ts';
import { state } from './page-state.ts';

/** A mention of a person; stands out where it is the one who looks. */
export function personMention(id: string): HTMLElement {
  const own = id === state.me ? ' mention-own' : '';
  return h('span', { class: `mention${own}` }, `@${state.nameOf(id)}`);
}

export function channelMention(id: string, label = ''): HTMLElement {
  const channel = state.workspace.channels.find((one) => one.id === id);
  const name = `#${channel?.name ?? (label || 'a channel')}`;
  if (channel === undefined) return h('span', { class: 'mention' }, name);
  return h('button', { type: 'button', class: 'mention link', onclick: () => state.go(id) }, name);
}

/** `@here` and the like, which call many people. */
export function broadcastMention(name: string): HTMLElement {
  return h('span', { class: 'mention mention-own' }, `@${name}`);
}

export function emojiPicture(name: string): Child {
  const picture = emoji(name);
  if (picture.startsWith(':')) return picture;
  return h('span', { class: 'emoji', role: 'img', 'aria-label': name.replaceAll('_', ' ') }, picture);
}
