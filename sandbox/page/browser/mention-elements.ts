import { type Child, h } from './dom.ts';
import { emoji } from './emoji.ts';
import { state } from './page-state.ts';

/** A mention of a person; highlighted if it is the person who is looking. */
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

/** A mention of many people, such as `@here`. */
export function broadcastMention(name: string): HTMLElement {
  return h('span', { class: 'mention mention-own' }, `@${name}`);
}

export function emojiPicture(name: string): Child {
  const picture = emoji(name);
  if (picture.startsWith(':')) return picture;
  return h('span', { class: 'emoji', role: 'img', 'aria-label': name.replaceAll('_', ' ') }, picture);
}
