import { warn, warnOnFailure } from './announcements.ts';
import { fill, h } from './dom.ts';
import { formatFileSize } from './file-size.ts';
import { icon } from './icons.ts';
import { openMenu } from './menu.ts';
import { type PaneName, state } from './page-state.ts';
import { performAction, upload } from './server-connection.ts';
import { Suggestions } from './suggestions.ts';

/** The input for messages: text with mentions, files by button, paste or drop; Enter sends. */
export class Composer {
  readonly element: HTMLElement;
  readonly #field: HTMLTextAreaElement;
  readonly #chips = h('ul', { class: 'chips', 'aria-label': 'Files to send' });
  readonly #send: HTMLButtonElement;
  readonly #broadcast: HTMLInputElement | undefined;
  readonly #suggestions: Suggestions;
  readonly #unsentFiles = new Map<string, File[]>();
  #files: File[] = [];
  #place: { channel: string; thread?: string } = { channel: '' };

  constructor(pane: PaneName) {
    this.#field = h('textarea', { rows: 1, 'data-key': 'words' });
    this.#suggestions = new Suggestions(this.#field, pane === 'channel');
    this.#send = h(
      'button',
      { type: 'submit', class: 'icon-button send', 'aria-label': 'Send', title: 'Send (Enter)' },
      icon('send'),
    );
    this.#broadcast = pane === 'thread' ? h('input', { type: 'checkbox' }) : undefined;
    const picker = h('input', {
      type: 'file',
      multiple: true,
      hidden: true,
      tabindex: -1,
      'aria-label': 'Files to attach',
    });
    picker.addEventListener('change', () => {
      this.attach([...(picker.files ?? [])]);
      picker.value = '';
    });
    const attach = h(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        'aria-label': 'Attach files',
        title: 'Attach files',
        onclick: () => picker.click(),
      },
      icon('attach'),
    );
    const bolt = h(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        'aria-label': 'Shortcuts',
        title: 'Shortcuts',
        'aria-haspopup': 'menu',
        hidden: true,
      },
      icon('bolt'),
    );
    bolt.addEventListener('click', () => openMenu(bolt, 'Shortcuts', shortcuts()));
    state.on(['workspace'], () => {
      bolt.hidden = pane === 'thread' || shortcuts().length === 0;
    });
    this.element = h(
      'form',
      {
        class: 'composer',
        onsubmit: (event) => {
          event.preventDefault();
          void this.#say();
        },
      },
      this.#suggestions.element,
      this.#field,
      this.#chips,
      h(
        'div',
        { class: 'composer-foot' },
        attach,
        picker,
        bolt,
        this.#broadcast === undefined
          ? undefined
          : h('label', { class: 'soft also' }, this.#broadcast, 'Also send to the channel'),
        this.#send,
      ),
    );
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    this.#field.addEventListener('input', () => this.#keepAndFit());
    this.#field.addEventListener('paste', ({ clipboardData }) =>
      this.attach([...(clipboardData?.files ?? [])]),
    );
  }

  /** Switches to another channel or thread. Each keeps its own draft; its text survives a reload, its files do not. */
  at(place: { channel: string; thread?: string }, label: string): void {
    const [before, now] = [keyOf(this.#place), keyOf(place)];
    this.#field.placeholder = label;
    this.#field.setAttribute('aria-label', label);
    if (before === now) return;
    this.#unsentFiles.set(before, this.#files);
    this.#place = place;
    this.#field.value = sessionStorage.getItem(now) ?? '';
    this.#files = this.#unsentFiles.get(now) ?? [];
    this.#suggestions.close();
    this.#draw();
  }

  /** Fills in text and files for the person to send. */
  suggest(text: string, files: File[] = []): void {
    this.#field.value = text;
    this.#files = files;
    this.#draw();
    this.#field.focus();
  }

  attach(files: File[]): void {
    if (files.length === 0) return;
    this.#files = [...this.#files, ...files];
    this.#draw();
    this.#field.focus();
  }

  focus(): void {
    this.#field.focus();
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing || this.#suggestions.takeKey(event)) return;
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void this.#say();
  }

  async #say(): Promise<void> {
    const text = this.#field.value.trim();
    const files = this.#files;
    if ((text === '' && files.length === 0) || this.#send.disabled) return;
    const person = state.me;
    const place = this.#place;
    const [, command, rest = ''] = /^(\/[a-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
    const known = state.staticInfo?.commands.some(({ id }) => id === command) ?? false;
    this.#send.disabled = true;
    const keys = await Promise.all(files.map(upload)).catch((error: unknown) => {
      warn(error instanceof Error ? error.message : 'The upload failed.');
      return undefined;
    });
    if (keys !== undefined) {
      const done =
        command !== undefined && known && place.thread === undefined
          ? await warnOnFailure(
              performAction({ kind: 'command', person, channel: place.channel, command, text: rest }),
            )
          : await warnOnFailure(
              performAction({
                kind: 'say',
                person,
                ...place,
                text,
                files: keys,
                ...(this.#broadcast?.checked ? { broadcast: true } : {}),
              }),
            );
      if (done && keyOf(place) === keyOf(this.#place)) this.suggest('');
    }
    this.#send.disabled = false;
    this.#field.focus();
  }

  #draw(): void {
    fill(
      this.#chips,
      this.#files.map((file) =>
        h(
          'li',
          { class: 'chip' },
          icon('file'),
          h('span', {}, file.name),
          h('span', { class: 'soft' }, formatFileSize(file.size)),
          h(
            'button',
            {
              type: 'button',
              class: 'icon-button',
              'aria-label': `Remove ${file.name}`,
              onclick: () => {
                this.#files = this.#files.filter((one) => one !== file);
                this.#draw();
                this.#field.focus();
              },
            },
            icon('close'),
          ),
        ),
      ),
    );
    this.#chips.hidden = this.#files.length === 0;
    this.#keepAndFit();
  }

  /** After every change: keeps the draft and fits the field to it. */
  #keepAndFit(): void {
    sessionStorage.setItem(keyOf(this.#place), this.#field.value);
    this.#field.style.height = 'auto';
    this.#field.style.height = `${Math.min(200, this.#field.scrollHeight)}px`;
  }
}

function keyOf({ channel, thread = '' }: { channel: string; thread?: string }): string {
  return `draft ${channel} ${thread}`;
}

function shortcuts() {
  return (state.staticInfo?.shortcuts ?? []).map(({ id, name }) => ({
    label: name,
    choose: () => void warnOnFailure(performAction({ kind: 'shortcut', person: state.me, callbackId: id })),
  }));
}
