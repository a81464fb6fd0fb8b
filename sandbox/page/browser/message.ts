import type { MessageModel, PersonModel } from '../page-protocol.ts';
import { act } from './announcements.ts';
import type { Surface } from './block-surface.ts';
import { oneBlock } from './blocks.ts';
import { button, type Child, fill, h, keepingFocus } from './dom.ts';
import { emoji } from './emoji.ts';
import { fileCard } from './file-card.ts';
import { avatar } from './mentions.ts';
import { toolbar } from './message-tools.ts';
import { mrkdwn } from './mrkdwn.ts';
import { type PaneName, state } from './page-state.ts';

/** One message on the page. An update redraws only the changed parts, so that a growing message does not flicker. */
export class MessageView {
  readonly element: HTMLElement;
  readonly #pane: PaneName;
  readonly #slots = {
    head: slot('head'),
    blocks: slot('body'),
    files: slot('files'),
    reactions: slot('reactions'),
    foot: slot('foot'),
  };
  readonly #drawn = new Map<HTMLElement, string>();
  #message: MessageModel;
  #blockKeys: string[] = [];

  constructor(message: MessageModel, pane: PaneName) {
    this.#message = message;
    this.#pane = pane;
    const { head, blocks, files, reactions, foot } = this.#slots;
    this.element = h(
      'article',
      { class: 'message', tabindex: -1, 'data-ts': message.ts },
      avatar(message.user),
      h('div', { class: 'message-main' }, head, blocks, files, reactions, foot),
    );
    this.element.append(toolbar(() => this.#message, pane, this.element));
    this.update(message);
  }

  update(message: MessageModel): void {
    this.#message = message;
    const { head, files, reactions, foot } = this.#slots;
    const notice = /^(channel|group)_/.test(message.subtype ?? '');
    this.element.classList.toggle('notice', notice);
    this.element.classList.toggle('ephemeral', message.ephemeral);
    this.element.classList.toggle('from-app', message.user === state.workspace.bot);
    this.element.setAttribute('aria-label', `${state.nameOf(message.user)}, ${clock(message.ts)}`);
    keepingFocus(this.element, () => {
      this.#draw(head, [message.user, message.edited, message.ephemeral], () => headOf(message));
      this.#drawBody(message);
      this.#draw(files, message.files, () => message.files.map(fileCard));
      this.#draw(reactions, [message.reactions, state.me], () => reactionsOf(message));
      const replies = this.#pane === 'channel' ? state.repliesTo(message) : [];
      const last = replies.at(-1)?.ts;
      this.#draw(foot, [replies.length, last, state.thread === message.ts], () => footOf(message, replies));
    });
  }

  #draw(place: HTMLElement, key: unknown, make: () => Child): void {
    const drawn = JSON.stringify(key);
    if (this.#drawn.get(place) === drawn) return;
    this.#drawn.set(place, drawn);
    fill(place, make());
  }

  #drawBody(message: MessageModel): void {
    const place = this.#slots.blocks;
    if (message.deleted) {
      this.#draw(place, 'deleted', () => h('p', { class: 'soft' }, 'This message was deleted.'));
      return;
    }
    if (message.blocks === undefined) {
      this.#blockKeys = [];
      this.#draw(
        place,
        message.text,
        () => message.text !== '' && h('div', { class: 'block lines' }, mrkdwn(message.text)),
      );
      return;
    }
    this.#drawn.delete(place);
    if (this.#blockKeys.length === 0) fill(place);
    const surface = surfaceOf(message);
    const keys = message.blocks.map((block) => JSON.stringify({ ...block, block_id: '' }));
    for (const [at, block] of message.blocks.entries()) {
      if (this.#blockKeys[at] === keys[at]) continue;
      const fresh = oneBlock(block, surface);
      fresh.dataset.blockId = String(block.block_id);
      const old = place.children[at];
      keepOpen(old, fresh);
      if (old === undefined) place.append(fresh);
      else old.replaceWith(fresh);
    }
    while (place.children.length > keys.length) place.lastElementChild?.remove();
    this.#blockKeys = keys;
  }
}

/** Slack keeps the tasks open that people opened, where the block has the same id in both states of the message. */
function keepOpen(old: Element | undefined, fresh: HTMLElement): void {
  if (!(old instanceof HTMLElement) || old.dataset.blockId !== fresh.dataset.blockId) return;
  const opened = [...old.querySelectorAll<HTMLElement>('details[open]')].map(({ dataset }) => dataset.task);
  for (const task of fresh.querySelectorAll('details'))
    if (task.dataset.task !== undefined && opened.includes(task.dataset.task)) task.open = true;
}

function slot(name: string): HTMLElement {
  return h('div', { class: `message-${name}` });
}

function surfaceOf({ channel, ts }: MessageModel): Surface {
  return {
    act: (pressed) => act({ kind: 'click', channel, ts, ...pressed }),
  };
}

/** When a message was posted, as `14:03`. */
export function clock(ts: string): string {
  return new Date(Number(ts) * 1_000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

const badges: Partial<Record<PersonModel['kind'], string>> = {
  bot: 'App',
  guest: 'Guest',
  stranger: 'External',
};

function headOf(message: MessageModel): Child[] {
  const badge = badges[state.person(message.user)?.kind ?? 'member'];
  const when = new Date(Number(message.ts) * 1_000);
  return [
    h('span', { class: 'author' }, state.nameOf(message.user)),
    badge !== undefined && h('span', { class: 'badge' }, badge),
    h('time', { datetime: when.toISOString(), title: when.toLocaleString() }, clock(message.ts)),
    message.subtype === 'thread_broadcast' && h('span', { class: 'soft' }, 'replied in a thread'),
    message.edited && h('span', { class: 'soft' }, '(edited)'),
    message.ephemeral && h('span', { class: 'soft' }, 'Only visible to you'),
  ];
}

function reactionsOf({ channel, ts, reactions }: MessageModel): Child[] {
  return reactions.map(({ name, users }) => {
    const isOwn = users.includes(state.me);
    const who = users.map((id) => state.nameOf(id)).join(', ');
    const flip = () => void act({ kind: 'react', channel, ts, name, on: !isOwn });
    return button(
      {
        class: 'reaction',
        'aria-pressed': String(isOwn),
        'aria-label': `${name.replaceAll('_', ' ')}, ${users.length}: ${who}`,
        title: `${who} with :${name}:`,
        'data-key': `reaction/${name}`,
        onclick: flip,
      },
      h('span', { class: 'emoji' }, emoji(name)),
      String(users.length),
    );
  });
}

function footOf({ channel, ts }: MessageModel, replies: MessageModel[]): Child {
  const last = replies.at(-1);
  if (last === undefined) return undefined;
  const people = [...new Set(replies.map(({ user }) => user))].slice(0, 4);
  const open = state.thread === ts;
  return button(
    {
      class: 'thread-link',
      'data-key': 'thread',
      'aria-expanded': String(open),
      onclick: () => state.go(channel, ts),
    },
    h('span', { class: 'faces' }, ...people.map((id) => avatar(id))),
    h('span', { class: 'thread-count' }, `${replies.length} ${replies.length === 1 ? 'reply' : 'replies'}`),
    h('span', { class: 'soft' }, `last reply at ${clock(last.ts)}`),
  );
}
