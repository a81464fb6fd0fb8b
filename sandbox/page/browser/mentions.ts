import { button, type Child, h } from './dom.ts';
import { emoji } from './emoji.ts';
import { icon } from './icons.ts';
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
  return button({ class: 'mention link', onclick: () => state.go(id) }, name);
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

/** A person's initials on their colour, or the bot's logo. */
export function avatar(id: string): HTMLElement {
  if (id === state.workspace.bot)
    return h('span', { class: 'avatar avatar-bot', 'aria-hidden': 'true' }, icon('bot'));
  const at = state.workspace.people.findIndex((person) => person.id === id);
  const letters = state
    .nameOf(id)
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('');
  return h('span', { class: `avatar avatar-${Math.max(0, at) % 6}`, 'aria-hidden': 'true' }, letters);
}
