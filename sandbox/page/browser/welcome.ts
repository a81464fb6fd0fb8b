import { act } from './announcements.ts';
import { openApp } from './channel-nav.ts';
import type { Composer } from './composer.ts';
import { button, fill, h } from './dom.ts';
import { SAMPLE_MIME_TYPE } from './file-drop.ts';
import { formatFileSize } from './file-size.ts';
import { icon } from './icons.ts';
import { state } from './page-state.ts';

interface Example {
  title: string;
  text: string;
  withSample?: boolean;
}

const EXAMPLES: Example[] = [
  {
    title: 'What is in this run?',
    text: 'What is in this run? Please summarise the columns.',
    withSample: true,
  },
  { title: 'Write something long', text: 'Write the long version.\n/long 6000' },
  {
    title: 'Show me formulas and four languages in a table',
    text: 'What is the difference between a standard deviation and a standard error?',
  },
  {
    title: 'Stop at the length limit, so that I can press Continue',
    text: 'Report on the plates.\n/lengthcut',
  },
  {
    title: 'Work for a minute, so that I can press Stop',
    text: 'Take a minute for this.\n/slow 60',
  },
];

const HINTS = [
  'The bot replies at once with a short note, then edits that message every few seconds as the answer grows.',
  'A message that you send meanwhile waits, marked with an hourglass. After Stop it waits until you release it.',
  'Result files come back as working links in the thread.',
  'Under “Behind the scenes”, kill the bot in the middle of an answer and start it again: the answer continues in the same message.',
  'What you write while the bot is down is answered within seconds of its start.',
];

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
  readonly #places = h('p', { class: 'places' });

  constructor(composer: Composer) {
    this.#composer = composer;
  }

  /** Opens in an empty channel, and collapses to make room for messages. */
  open(isEmpty: boolean): void {
    this.element.open = isEmpty;
  }

  draw(): void {
    this.#drawPlaces();
    const { sample } = state.staticInfo ?? {};
    if (sample === undefined || this.element.childElementCount > 0) return;
    const chip = button(
      { class: 'sample', draggable: 'true', onclick: () => void this.#attachSample() },
      icon('file'),
      h(
        'span',
        {},
        h('strong', {}, sample.name),
        h('span', { class: 'soft' }, ` ${formatFileSize(sample.bytes)}`),
      ),
      h('span', { class: 'soft' }, 'Drag it onto the message box, or click to attach it'),
    );
    chip.addEventListener('dragstart', ({ dataTransfer }) => {
      dataTransfer?.setData(SAMPLE_MIME_TYPE, sample.name);
      dataTransfer?.setData('text/plain', sample.name);
    });
    this.element.append(
      h('summary', {}, h('h2', {}, 'Try it: ask the agent')),
      h(
        'p',
        { class: 'lead' },
        'This is a small Slack workspace on your own machine',
        state.bot === undefined
          ? '. Connect your bot to it: the terminal shows the settings. '
          : ', with the real Taskthread bot in it. ',
        'Mention it in a channel or message it directly, and its answer grows in the thread. ',
        'Nothing leaves this computer.',
      ),
      chip,
      h('ul', { class: 'tries', 'aria-label': 'Things to try' }, ...EXAMPLES.map((one) => this.#tryRow(one))),
      this.#places,
      h(
        'details',
        { class: 'watch', open: true },
        h('summary', {}, 'What to watch for'),
        h('ul', {}, ...HINTS.map((sentence) => h('li', {}, sentence))),
      ),
    );
  }

  /** Buttons for the other features: the form, the Home tab, the settings and the help. */
  #drawPlaces(): void {
    const withBot = state.place?.members.includes(state.workspace.bot) === true;
    const type = (text: string) => () =>
      void act({ kind: 'command', channel: state.channel, command: '/agent', text });
    const buttons = [
      ['Ask with a form', type('new')],
      ['Your tasks', () => openApp('home')],
      withBot && (['Channel settings', type('settings')] as const),
      ['Help', type('help')],
    ] as const;
    fill(
      this.#places,
      'Or: ',
      buttons.map((place) => place && button({ class: 'button', onclick: place[1] }, place[0])),
    );
  }

  #tryRow({ title, text, withSample = false }: Example): HTMLElement {
    const use = async () =>
      this.#composer.suggest(`${mention()}${text}`, withSample ? [await sampleFile()] : []);
    return h(
      'li',
      {},
      button(
        { class: 'try', onclick: () => void use() },
        title,
        withSample && h('span', { class: 'soft' }, ' with the sample table'),
      ),
    );
  }

  async #attachSample(): Promise<void> {
    this.#composer.attach([await sampleFile()]);
  }
}
