import type { MessageModel } from '../page-protocol.ts';
import { act, warn, warnOnFailure } from './announcements.ts';
import { fill, h } from './dom.ts';
import { formatFileSize } from './file-size.ts';
import { icon, iconButton } from './icons.ts';
import { openMenu } from './menu.ts';
import { type PaneName, state } from './page-state.ts';
import { tableOn } from './pasted-table.ts';
import { performAction, upload } from './server-connection.ts';
import { Suggestions } from './suggestions.ts';

interface Place {
  channel: string;
  thread?: string;
}

interface Outgoing {
  person: string;
  place: Place;
  text: string;
  files: File[];
  table: string[][] | undefined;
  forwarding: MessageModel | undefined;
  broadcast: boolean;
}

/** The input for messages: text with mentions, files by button, paste or drop; Enter sends. */
export class Composer {
  readonly element: HTMLElement;
  readonly #field: HTMLTextAreaElement;
  readonly #chips = h('ul', { class: 'chips', 'aria-label': 'Files to send' });
  readonly #broadcast: HTMLInputElement | undefined;
  readonly #suggestions: Suggestions;
  readonly #unsentFiles = new Map<string, File[]>();
  #files: File[] = [];
  #table: string[][] | undefined;
  #forwarding: MessageModel | undefined;
  #place: Place = { channel: '' };
  readonly #uploading = h('span', { class: 'soft', role: 'status', hidden: true }, 'Uploading…');
  #sending = Promise.resolve();

  constructor(pane: PaneName) {
    this.#field = h('textarea', { rows: 1, 'data-key': 'words' });
    this.#suggestions = new Suggestions(this.#field, pane === 'channel');
    const send = iconButton('Send', 'send', {
      type: 'submit',
      class: 'icon-button send',
      title: 'Send (Enter)',
    });
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
    const attach = iconButton('Attach files', 'attach', { onclick: () => picker.click() });
    const bolt = iconButton('Shortcuts', 'bolt', { 'aria-haspopup': 'menu', hidden: true });
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
          this.#say();
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
        this.#uploading,
        send,
      ),
    );
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    this.#field.addEventListener('input', () => this.#keepAndFit());
    this.#field.addEventListener('paste', (event) => this.#paste(event));
    if (pane === 'channel')
      state.on(['forwarding'], () => {
        this.#forwarding = state.forwarding;
        this.#draw();
        this.#field.focus();
      });
  }

  /** Switches to another channel or thread. Each keeps its own draft; its text survives a reload, its files do not. */
  at(place: Place, label: string): void {
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

  /** Slack makes a table of what comes from a spreadsheet, which also puts a picture of it on the clipboard. */
  #paste(event: ClipboardEvent): void {
    const { clipboardData } = event;
    if (clipboardData === null) return;
    const table = tableOn(clipboardData);
    if (table === undefined) {
      this.attach([...clipboardData.files]);
    } else {
      event.preventDefault();
      this.#table = table;
      this.#draw();
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing || this.#suggestions.takeKey(event)) return;
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    this.#say();
  }

  /** Sends what is typed after what is still being sent. The field is free at once; a message that fails comes back. */
  #say(): void {
    const text = this.#field.value.trim();
    const files = this.#files;
    const table = this.#table;
    const forwarding = this.#forwarding;
    if (text === '' && files.length === 0 && table === undefined && forwarding === undefined) return;
    const message = {
      person: state.me,
      place: this.#place,
      text,
      files,
      table,
      forwarding,
      broadcast: this.#broadcast?.checked === true,
    };
    this.#table = undefined;
    if (forwarding !== undefined) state.forward(undefined);
    this.suggest('');
    this.#sending = this.#sending.then(async () => {
      this.#uploading.hidden = files.length === 0;
      if (!(await deliver(message))) this.#giveBack(message);
      this.#uploading.hidden = true;
    });
  }

  /** Puts a message that was not sent in front of the draft of its place. */
  #giveBack({ place, text, files, table, forwarding }: Outgoing): void {
    const key = keyOf(place);
    const isHere = key === keyOf(this.#place);
    this.#table ??= table;
    if (forwarding !== undefined) state.forward(forwarding);
    const typed = sessionStorage.getItem(key) ?? '';
    const draft = [text, typed].filter((part) => part !== '').join('\n');
    const allFiles = [...files, ...(isHere ? this.#files : (this.#unsentFiles.get(key) ?? []))];
    if (isHere) this.suggest(draft, allFiles);
    else {
      sessionStorage.setItem(key, draft);
      this.#unsentFiles.set(key, allFiles);
    }
  }

  #draw(): void {
    fill(
      this.#chips,
      this.#files.map((file) =>
        this.#chip(file.name, formatFileSize(file.size), () => {
          this.#files = this.#files.filter((one) => one !== file);
        }),
      ),
      this.#table && this.#chip('Table', `${this.#table.length} rows`, () => (this.#table = undefined)),
      this.#forwarding &&
        this.#chip('Forwarded message', state.nameOf(this.#forwarding.user), () => state.forward(undefined)),
    );
    this.#chips.hidden = this.#chips.childElementCount === 0;
    this.#keepAndFit();
  }

  #chip(name: string, detail: string, remove: () => void): HTMLElement {
    const onclick = () => {
      remove();
      this.#draw();
      this.#field.focus();
    };
    const close = { type: 'button', class: 'icon-button', 'aria-label': `Remove ${name}`, onclick } as const;
    return h(
      'li',
      { class: 'chip' },
      icon('file'),
      h('span', {}, name),
      h('span', { class: 'soft' }, detail),
      h('button', close, icon('close')),
    );
  }

  /** After every change: keeps the draft and fits the field to it. */
  #keepAndFit(): void {
    sessionStorage.setItem(keyOf(this.#place), this.#field.value);
    this.#field.style.height = 'auto';
    this.#field.style.height = `${Math.min(200, this.#field.scrollHeight)}px`;
  }
}

/** Sends a message or command, or warns; returns whether it is sent. */
async function deliver(message: Outgoing): Promise<boolean> {
  const { person, place, text, files, table, forwarding, broadcast } = message;
  const keys = await Promise.all(files.map(upload)).catch((error: unknown) => {
    warn(error instanceof Error ? error.message : 'The upload failed.');
    return undefined;
  });
  if (keys === undefined) return false;
  const [, command, rest = ''] = /^(\/[a-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const known = state.staticInfo?.commands.some(({ id }) => id === command) ?? false;
  return warnOnFailure(
    performAction(
      command !== undefined && known && place.thread === undefined
        ? { kind: 'command', person, channel: place.channel, command, text: rest }
        : {
            kind: 'say',
            person,
            ...place,
            text,
            files: keys,
            ...(table === undefined ? {} : { table }),
            ...(forwarding === undefined
              ? {}
              : { forwards: { channel: forwarding.channel, ts: forwarding.ts } }),
            ...(broadcast ? { broadcast } : {}),
          },
    ),
  );
}

function keyOf({ channel, thread = '' }: Place): string {
  return `draft ${channel} ${thread}`;
}

function shortcuts() {
  return (state.staticInfo?.shortcuts ?? []).map(({ id, name }) => ({
    label: name,
    choose: () => void act({ kind: 'shortcut', callbackId: id }),
  }));
}
