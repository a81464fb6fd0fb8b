import type { ChannelModel } from '../page-protocol.ts';
import { act } from './announcements.ts';
import { openApp } from './channel-nav.ts';
import { Composer } from './composer.ts';
import { button, byId, type Child, fill, h } from './dom.ts';
import { acceptFileDrops } from './file-drop.ts';
import { HomeTab } from './home-tab.ts';
import { icon } from './icons.ts';
import { MessageList } from './message-list.ts';
import { state } from './page-state.ts';
import { sampleFile, Welcome } from './welcome.ts';

/** The middle pane: header, messages or the app's Home, and the composer. */
export class ChannelPane {
  readonly #composer = new Composer('channel');
  readonly #welcome = new Welcome(this.#composer);
  readonly #list = new MessageList('channel', 'Messages', this.#welcome.element);
  readonly #home = new HomeTab();
  readonly #head = h('header', { class: 'pane-head' });
  readonly #tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Taskthread', hidden: true });

  #subject = '';

  constructor() {
    const pane = byId('channel');
    pane.append(this.#head, this.#tabs, this.#home.element, this.#list.element, this.#composer.element);
    acceptFileDrops(pane, this.#composer, sampleFile);
    state.on(['place', 'workspace'], () => this.#drawPlace());
    state.on(['messages', 'place'], () => this.#drawMessages());
  }

  #drawPlace(): void {
    const { place } = state;
    if (place === undefined) return;
    const withBot = place.id === state.botDm?.id;
    fill(
      this.#head,
      h('h1', {}, mark(place), place.name),
      h('p', { class: 'soft' }, this.#about(place)),
      invitation(place),
    );
    this.#tabs.hidden = !withBot;
    fill(this.#tabs, withBot && [tab('home', 'Home'), tab('messages', 'Messages')]);
    const home = withBot && state.tab === 'home';
    this.#home.element.hidden = !home;
    this.#list.element.hidden = home;
    this.#composer.element.hidden = home || place.archived;
    this.#welcome.element.hidden = place.kind === 'mpim';
    this.#welcome.draw();
    this.#composer.at(
      { channel: place.id },
      withBot ? 'Message Taskthread' : `Message ${mark(place) === '' ? '' : '#'}${place.name}`,
    );
  }

  #about({ kind, purpose, members }: ChannelModel): string {
    if (kind === 'im') return 'Each message here starts a new task.';
    return [purpose, `${members.length} members`].filter((part) => part !== '').join(' · ');
  }

  #drawMessages(): void {
    const messages = state.roots(state.channel);
    const subject = `${state.me} ${state.channel} ${messages.length === 0}`;
    if (subject !== this.#subject) this.#welcome.open(messages.length === 0);
    this.#subject = subject;
    this.#list.show(`${state.me} ${state.channel}`, messages);
  }
}

function mark({ kind }: ChannelModel): Child {
  if (kind === 'channel') return icon('hash');
  return kind === 'group' ? icon('lock') : '';
}

function invitation(place: ChannelModel): Child {
  if (place.members.includes(state.workspace.bot)) return undefined;
  const invite = () => void act({ kind: 'invite', channel: place.id });
  return button({ class: 'button', onclick: invite }, 'Add Taskthread');
}

function tab(which: 'home' | 'messages', name: string): HTMLElement {
  const open = () => {
    openApp(which);
    document.querySelector<HTMLElement>(`[data-tab="${which}"]`)?.focus();
  };
  const selected = state.tab === which;
  return button(
    {
      role: 'tab',
      'data-tab': which,
      'aria-selected': String(selected),
      tabindex: selected ? 0 : -1,
      onclick: open,
      onkeydown: (event) => {
        if (event instanceof KeyboardEvent && /^Arrow(Left|Right)$/.test(event.key))
          document.querySelector<HTMLElement>('[role="tab"][aria-selected="false"]')?.click();
      },
    },
    name,
  );
}
