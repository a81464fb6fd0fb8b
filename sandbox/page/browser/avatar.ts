import { h } from './dom.ts';
import { icon } from './icons.ts';
import { state } from './page-state.ts';

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
