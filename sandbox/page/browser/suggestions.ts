import { type Child, fill, h } from './dom.ts';
import { state } from './page-state.ts';

interface Suggestion {
  /** Replaces the typed text. */
  text: string;
  label: string;
  about: string;
}

let count = 0;

/** Suggests completions of the typed text: people (`@`), channels (`#`) and commands (`/` at the beginning). */
export class Suggestions {
  readonly element: HTMLElement;
  readonly #field: HTMLTextAreaElement;
  readonly #commands: boolean;
  #shown: Suggestion[] = [];
  #at = 0;
  #from = 0;

  constructor(field: HTMLTextAreaElement, commands: boolean) {
    count += 1;
    this.#field = field;
    this.#commands = commands;
    this.element = h('div', {
      class: 'suggestions',
      role: 'listbox',
      id: `suggestions-${count}`,
      'aria-label': 'Suggestions',
      hidden: true,
    });
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', this.element.id);
    field.addEventListener('input', () => this.#look());
    field.addEventListener('click', () => this.#look());
    const closeUnlessBack = () => {
      if (document.activeElement !== field) this.close();
    };
    field.addEventListener('blur', () => setTimeout(closeUnlessBack, 150));
  }

  get open(): boolean {
    return this.#shown.length > 0;
  }

  /** Handles a key; returns whether it was for the suggestions. */
  takeKey(event: KeyboardEvent): boolean {
    if (!this.open) return false;
    if (event.key === 'ArrowDown') this.#step(1);
    else if (event.key === 'ArrowUp') this.#step(-1);
    else if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' || event.key === 'Tab') this.#choose(this.#at);
    else return false;
    event.preventDefault();
    return true;
  }

  close(): void {
    this.#shown = [];
    this.#draw();
  }

  #look(): void {
    const typed = this.#field.value.slice(0, this.#field.selectionStart);
    // A displayed name may have two words.
    const word = /(?:^|\s)([@#])([\w.-]*(?: [\w.-]*)?)$/.exec(typed);
    const command = this.#commands ? /^\/([\w-]*)$/.exec(typed) : null;
    if (word !== null)
      this.#offer(typed.length - (word[2] ?? '').length - 1, namesFor(word[1] ?? '', word[2] ?? ''));
    else if (command !== null) this.#offer(0, commandsFor(command[1] ?? ''));
    else this.close();
  }

  #offer(from: number, found: Suggestion[]): void {
    this.#from = from;
    this.#at = 0;
    this.#shown = found.slice(0, 8);
    this.#draw();
  }

  #step(by: number): void {
    this.#at = (this.#at + by + this.#shown.length) % this.#shown.length;
    this.#draw();
  }

  #choose(at: number): void {
    const chosen = this.#shown[at];
    if (chosen === undefined) return;
    const { selectionStart, value } = this.#field;
    const after = value.slice(selectionStart);
    this.#field.value = `${value.slice(0, this.#from)}${chosen.text} ${after}`;
    const place = this.#from + chosen.text.length + 1;
    this.#field.setSelectionRange(place, place);
    this.#field.focus();
    this.close();
  }

  #draw(): void {
    const { id } = this.element;
    this.element.hidden = !this.open;
    const rows: Child[] = this.#shown.map(({ label, about }, at) =>
      h(
        'div',
        {
          role: 'option',
          id: `${id}-${at}`,
          class: 'suggestion',
          'aria-selected': String(at === this.#at),
          onmousedown: (event) => {
            event.preventDefault();
            this.#choose(at);
          },
        },
        h('strong', {}, label),
        ' ',
        h('span', { class: 'soft' }, about),
      ),
    );
    fill(this.element, rows);
    if (this.open) this.#field.setAttribute('aria-activedescendant', `${id}-${this.#at}`);
    else this.#field.removeAttribute('aria-activedescendant');
  }
}

function namesFor(mark: string, begun: string): Suggestion[] {
  const wanted = begun.toLowerCase();
  if (mark === '#') {
    return state.workspace.channels
      .filter(({ kind, name }) => (kind === 'channel' || kind === 'group') && name.startsWith(wanted))
      .map(({ name, purpose }) => ({ text: `#${name}`, label: `#${name}`, about: purpose }));
  }
  const { bot, people } = state.workspace;
  const fits = people.filter(({ name, realName }) =>
    wanted.includes(' ')
      ? realName.toLowerCase().startsWith(wanted)
      : `${name} ${realName}`.toLowerCase().includes(wanted),
  );
  const botFirst = fits.toSorted((one, other) => Number(other.id === bot) - Number(one.id === bot));
  return botFirst.map(({ name, realName }) => ({ text: `@${name}`, label: realName, about: `@${name}` }));
}

function commandsFor(begun: string): Suggestion[] {
  const commands = state.staticInfo?.commands ?? [];
  return commands
    .filter(({ id }) => id.startsWith(`/${begun}`))
    .map(({ id, hint, description }) => ({ text: id, label: `${id} ${hint}`, about: description }));
}
