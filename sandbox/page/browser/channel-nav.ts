import type { ChannelModel } from '../page-protocol.ts';
import { act } from './announcements.ts';
import { button, byId, type Child, fill, h, keepingFocus } from './dom.ts';
import { icon } from './icons.ts';
import { avatar } from './mentions.ts';
import { state } from './page-state.ts';

const groups: { name: string; kinds: ChannelModel['kind'][] }[] = [
  { name: 'Channels', kinds: ['channel', 'group'] },
  { name: 'Direct messages', kinds: ['im', 'mpim'] },
];

/** Draws the list of conversations: one stop for Tab, arrow keys move in it. `onSelect` is called after a selection. */
export function drawNav(onSelect: () => void): void {
  const nav = byId('nav');
  nav.addEventListener('keydown', moveFocus);
  state.on(['workspace', 'place', 'messages'], () =>
    keepingFocus(nav, () =>
      fill(
        nav,
        groups.map((group) => groupOf(group, onSelect)),
      ),
    ),
  );
}

function groupOf({ name, kinds }: (typeof groups)[number], onSelect: () => void): Child {
  const channels = state.workspace.channels.filter(({ kind }) => kinds.includes(kind));
  if (channels.length === 0) return undefined;
  const id = `group-${kinds[0]}`;
  return [
    h('h2', { id }, name),
    h('ul', { 'aria-labelledby': id }, ...channels.map((channel) => row(channel, onSelect))),
  ];
}

function row(channel: ChannelModel, onSelect: () => void): HTMLElement {
  const unread = channel.id === state.channel ? 0 : state.unread(channel.id);
  const go = () => {
    state.go(channel.id);
    if (channel.id === state.botDm?.id) openApp(state.tab);
    onSelect();
  };
  return h(
    'li',
    {},
    button(
      {
        class: unread > 0 ? 'place unread' : 'place',
        'aria-current': channel.id === state.channel ? 'page' : undefined,
        'data-key': channel.id,
        tabindex: channel.id === state.channel ? 0 : -1,
        onclick: go,
      },
      picture(channel),
      h('span', { class: 'place-name' }, channel.name),
      unread > 0 &&
        h('span', { class: 'count' }, String(unread), h('span', { class: 'visually-hidden' }, ' unread')),
    ),
  );
}

function moveFocus(event: KeyboardEvent): void {
  const places = [...byId('nav').querySelectorAll('.place')];
  const at = document.activeElement === null ? -1 : places.indexOf(document.activeElement);
  const steps: Record<string, Element | undefined> = {
    ArrowDown: places[at + 1],
    ArrowUp: places[at - 1],
    Home: places[0],
    End: places.at(-1),
  };
  const next = steps[event.key];
  if (at === -1 || !(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

function picture({ kind, members }: ChannelModel): Child {
  if (kind === 'channel') return icon('hash');
  if (kind === 'group') return icon('lock');
  return avatar(members.find((id) => id !== state.me) ?? '');
}

/** Draws the selection of the person to act as. */
export function drawPeople(onSelect: (id: string) => void): void {
  const select = byId('me');
  if (!(select instanceof HTMLSelectElement)) return;
  select.addEventListener('change', () => onSelect(select.value));
  state.on(['workspace'], () => {
    const people = state.workspace.people.filter(({ kind }) => kind !== 'bot');
    const labels: Record<string, string> = { guest: ' (guest)', stranger: ' (external)' };
    fill(
      select,
      people.map(({ id, realName, kind }) => h('option', { value: id }, `${realName}${labels[kind] ?? ''}`)),
    );
    select.value = state.me;
  });
}

/** Opens the app's Home or Messages tab and notifies the app, as Slack does. */
export function openApp(tab: 'home' | 'messages'): void {
  const { botDm } = state;
  if (botDm === undefined) return;
  if (botDm.id !== state.channel) state.go(botDm.id);
  if (tab !== state.tab) state.show(tab);
  void act({ kind: 'open-app', tab });
}
