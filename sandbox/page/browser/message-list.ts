import type { MessageModel } from '../page-protocol.ts';
import { h } from './dom.ts';
import { MessageView } from './message.ts';
import type { PaneName } from './page-state.ts';

/** A list scrolled to within this many pixels of its end follows new messages. */
const NEAR_END_PX = 80;

/**
 * A list of messages. One message is reachable with Tab, with its buttons and links; arrow keys move between messages.
 * The list follows new messages while people are at its end, and otherwise keeps its position.
 */
export class MessageList {
  readonly element: HTMLElement;
  readonly #pane: PaneName;
  readonly #views = new Map<string, MessageView>();
  readonly #list = h('div', { class: 'messages', role: 'group' });
  #subject = '';

  /** `before` appears above the first message. */
  constructor(pane: PaneName, name: string, before?: HTMLElement) {
    this.#pane = pane;
    this.#list.setAttribute('aria-label', name);
    this.element = h('div', { class: 'scroller' }, before, this.#list);
    this.#list.addEventListener('keydown', (event) => this.#move(event));
    this.#list.addEventListener('focusin', ({ target }) => {
      const article = target instanceof Element ? target.closest('article') : null;
      if (article instanceof HTMLElement) this.#takeTab(article);
    });
    const sizes = new ResizeObserver(() => this.#follow());
    sizes.observe(this.#list);
    sizes.observe(this.element);
    this.element.addEventListener('scroll', () => this.#scrolled());
  }

  #atEnd = true;
  #top = 0;

  /** Shows these messages; `subject` identifies the conversation. */
  show(subject: string, messages: MessageModel[]): void {
    if (subject !== this.#subject) {
      this.#subject = subject;
      this.#views.clear();
      this.#list.replaceChildren();
      this.#atEnd = true;
      this.element.scrollTop = 0;
    }
    const wanted = new Set(messages.map(({ ts }) => ts));
    for (const [ts, view] of this.#views) {
      if (wanted.has(ts)) continue;
      view.element.remove();
      this.#views.delete(ts);
    }
    let before: Element | null = null;
    for (const message of messages) {
      const element = this.#viewOf(message).element;
      if (element.previousElementSibling !== before || element.parentElement === null) {
        if (before === null) this.#list.prepend(element);
        else before.after(element);
      }
      before = element;
    }
    const current = this.#list.querySelector('.message:focus-within') ?? this.#list.lastElementChild;
    if (current instanceof HTMLElement) this.#takeTab(current);
    this.#follow();
  }

  #viewOf(message: MessageModel): MessageView {
    const known = this.#views.get(message.ts);
    if (known !== undefined) {
      known.update(message);
      return known;
    }
    const view = new MessageView(message, this.#pane);
    this.#views.set(message.ts, view);
    return view;
  }

  #distance(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight;
  }

  #follow(): void {
    if (this.#atEnd && this.#views.size > 0) this.element.scrollTop = this.element.scrollHeight;
    this.#top = this.element.scrollTop;
  }

  /** Only people scroll up; if the end moves away, a picture or table has loaded above it. */
  #scrolled(): void {
    const { scrollTop } = this.element;
    if (this.#distance() < NEAR_END_PX) this.#atEnd = true;
    else if (scrollTop < this.#top) this.#atEnd = false;
    this.#top = scrollTop;
  }

  #takeTab(article: HTMLElement): void {
    for (const { element } of this.#views.values()) setTabStops(element, element === article);
  }

  #move(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || !target.classList.contains('message')) return;
    const next = {
      ArrowDown: target.nextElementSibling,
      ArrowUp: target.previousElementSibling,
      Home: this.#list.firstElementChild,
      End: this.#list.lastElementChild,
    }[key];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    this.#takeTab(next);
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  }
}

/** Puts a message and its controls into the tab order, or takes them out of it. */
function setTabStops(article: HTMLElement, isCurrent: boolean): void {
  article.tabIndex = isCurrent ? 0 : -1;
  const changed = isCurrent
    ? '[data-skipped]'
    : 'a[href]:not([tabindex]), :is(button, input, select, summary):not([tabindex])';
  for (const control of article.querySelectorAll<HTMLElement>(changed)) {
    control.toggleAttribute('data-skipped', !isCurrent);
    if (isCurrent) control.removeAttribute('tabindex');
    else control.tabIndex = -1;
  }
}
