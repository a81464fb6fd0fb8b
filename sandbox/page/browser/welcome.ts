import { act } from './announcements.ts';
import { openApp } from './channel-nav.ts';
import type { Composer } from './composer.ts';
import { byId, fill, h } from './dom.ts';
import { SAMPLE_MIME_TYPE } from './file-drop.ts';
import { formatFileSize } from './file-size.ts';
import { state } from './page-state.ts';

/** The sample table as a file. */
export async function sampleFile(): Promise<File> {
  const response = await fetch('/sample');
  return new File([await response.blob()], state.staticInfo?.sample.name ?? 'sample.csv', {
    type: 'text/csv',
  });
}

/** The mention that a new message needs; none in direct messages with the bot. */
function mention(): string {
  return state.channel === state.botDm?.id ? '' : '@taskthread ';
}

/** The introduction for newcomers: what this is, some examples, and what to watch for. */
export class Welcome {
  readonly element = h('details', { class: 'welcome', open: true });
  readonly #composer: Composer;

  constructor(composer: Composer) {
    this.#composer = composer;
  }

  /** Opens in an empty channel, and collapses to make room for messages. */
  open(isEmpty: boolean): void {
    this.element.open = isEmpty;
  }

  draw(): void {
    if (this.element.childElementCount === 0) this.#begin();
    const withBot = state.place?.members.includes(state.workspace.bot) === true;
    for (const button of this.#all('[data-command="settings"]')) button.hidden = !withBot;
  }

  #begin(): void {
    const { sample } = state.staticInfo ?? {};
    const content = byId('welcome');
    if (sample === undefined || !(content instanceof HTMLTemplateElement)) return;
    this.element.append(content.content.cloneNode(true));
    for (const part of this.#all('[data-with]'))
      part.hidden = part.dataset.with !== (state.bot === undefined ? 'no-bot' : 'bot');
    for (const chip of this.#all('.sample')) {
      fill(chip.querySelector('strong') ?? chip, sample.name);
      fill(chip.querySelector('[data-size]') ?? chip, formatFileSize(sample.bytes));
      chip.addEventListener('dragstart', ({ dataTransfer }) => {
        dataTransfer?.setData(SAMPLE_MIME_TYPE, sample.name);
        dataTransfer?.setData('text/plain', sample.name);
      });
    }
    this.#onClick('.sample', async () => this.#composer.attach([await sampleFile()]));
    this.#onClick('.try', async ({ dataset: { text = '', withSample } }) =>
      this.#composer.suggest(`${mention()}${text}`, withSample === undefined ? [] : [await sampleFile()]),
    );
    this.#onClick('[data-command]', ({ dataset: { command: text = '' } }) =>
      act({ kind: 'command', channel: state.channel, command: '/agent', text }),
    );
    this.#onClick('[data-home]', () => openApp('home'));
  }

  #onClick(selector: string, use: (button: HTMLElement) => unknown): void {
    for (const button of this.#all(selector)) button.addEventListener('click', () => void use(button));
  }

  #all(selector: string): Iterable<HTMLElement> {
    return this.element.querySelectorAll<HTMLElement>(selector);
  }
}
