import { act } from './announcements.ts';
import { Composer } from './composer.ts';
import { button, byId, fill, h } from './dom.ts';
import { acceptFileDrops } from './file-drop.ts';
import { iconButton } from './icons.ts';
import { MessageList } from './message-list.ts';
import { state } from './page-state.ts';
import { sampleFile } from './welcome.ts';

/** A thread beside its channel. */
export class ThreadPane {
  readonly #composer = new Composer('thread');
  readonly #list = new MessageList('thread', 'Replies');
  readonly #name = h('p', { class: 'soft' });
  readonly #status = h('p', { class: 'session', hidden: true });
  readonly #pane = byId('thread');
  #shown: string | undefined;

  constructor() {
    const close = () => {
      const root = state.thread;
      state.go(state.channel);
      document.querySelector<HTMLElement>(`#channel [data-ts="${root}"]`)?.focus();
    };
    const closing = iconButton('Close the thread', 'close', { onclick: close });
    this.#pane.append(
      h('header', { class: 'pane-head' }, h('h2', {}, 'Thread'), this.#name, closing),
      this.#list.element,
      this.#status,
      this.#composer.element,
    );
    this.#pane.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !(event.target instanceof HTMLTextAreaElement))
        close();
    });
    acceptFileDrops(this.#pane, this.#composer, sampleFile);
    state.on(['messages', 'place', 'workspace'], () => this.#draw());
  }

  #draw(): void {
    const { channel, thread, place } = state;
    this.#pane.hidden = thread === undefined;
    document.body.classList.toggle('with-thread', thread !== undefined);
    if (thread === undefined || place === undefined) {
      this.#shown = undefined;
      return;
    }
    this.#name.textContent =
      place.kind === 'channel' || place.kind === 'group' ? `#${place.name}` : place.name;
    const messages = state.inThread(channel, thread);
    this.#list.show(`${state.me} ${channel} ${thread}`, messages);
    this.#composer.at({ channel, thread }, 'Reply in this thread');
    this.#drawStatus(channel, thread, messages[0]?.status);
    if (this.#shown === thread) return;
    this.#shown = thread;
    if (!state.openedAutomatically) this.#composer.focus();
  }

  /** The status line of Slack's agent sessions, with Slack's own Stop button. */
  #drawStatus(channel: string, ts: string, status = ''): void {
    this.#status.hidden = status === '';
    const stop = () => void act({ kind: 'stop-session', channel, ts });
    fill(
      this.#status,
      status === 'processing' ? 'Working…' : status,
      status === 'processing' && button({ class: 'button', onclick: stop }, 'Stop'),
    );
  }
}
