import { warnOnFailure } from './announcements.ts';
import { openApp } from './app-tab.ts';
import type { Composer } from './composer.ts';
import { fill, h } from './dom.ts';
import { SAMPLE_MIME_TYPE } from './file-drop.ts';
import { formatFileSize } from './file-size.ts';
import { icon } from './icons.ts';
import { state } from './page-state.ts';
import { performAction } from './server-connection.ts';

interface Example {
  title: string;
  text: string;
  withSample: boolean;
}

const EXAMPLES: Example[] = [
  {
    title: 'What is in this run?',
    text: 'What is in this run? Please summarise the columns.',
    withSample: true,
  },
  { title: 'Write something long', text: 'Write the long version.\n/long 6000', withSample: false },
  {
    title: 'Work for a minute, so that I can press Stop',
    text: 'Take a minute for this.\n/slow 60',
    withSample: false,
  },
];

const HINTS = [
  'The first words come at once; from then on one message grows, edited every few seconds.',
  'A message sent meanwhile waits with an hourglass on it; after Stop it goes only when you say so.',
  'Files come back as links in the thread, and the links work.',
  'Behind the scenes, kill the bot in the middle of an answer: it goes on in the same message.',
];

/** The sample table as a file. */
export async function sampleFile(): Promise<File> {
  const response = await fetch('/sample');
  return new File([await response.blob()], state.staticInfo?.sample.name ?? 'sample.csv', {
    type: 'text/csv',
  });
}

/** In direct messages with the bot nobody needs to call it. */
function mention(): string {
  return state.channel === state.botDm?.id ? '' : '@taskthread ';
}

/** What newcomers read first: what this is, three things to try, and what to watch for. */
export class Welcome {
  readonly element = h('details', { class: 'welcome', open: true });
  readonly #composer: Composer;
  readonly #places = h('p', { class: 'places' });

  constructor(composer: Composer) {
    this.#composer = composer;
  }

  /** Makes room for messages where there are some. */
  open(empty: boolean): void {
    this.element.open = empty;
  }

  draw(): void {
    this.#drawPlaces();
    const { sample } = state.staticInfo ?? {};
    if (sample === undefined || this.element.childElementCount > 0) return;
    const chip = h(
      'button',
      { type: 'button', class: 'sample', draggable: 'true', onclick: () => void this.#attachSample() },
      icon('file'),
      h(
        'span',
        {},
        h('strong', {}, sample.name),
        h('span', { class: 'soft' }, ` ${formatFileSize(sample.bytes)}`),
      ),
      h('span', { class: 'soft' }, 'Drag it below, or press to attach'),
    );
    chip.addEventListener('dragstart', ({ dataTransfer }) => {
      dataTransfer?.setData(SAMPLE_MIME_TYPE, sample.name);
      dataTransfer?.setData('text/plain', sample.name);
    });
    this.element.append(
      h('summary', {}, h('h2', {}, 'Try it: ask the agent, in a thread')),
      h(
        'p',
        { class: 'lead' },
        'This is a small Slack workspace on your own machine, with the real Taskthread bot in it. ',
        'Mention it in a channel or write to it directly, and its answer grows in the thread. ',
        'Nothing leaves this computer.',
      ),
      chip,
      h(
        'ul',
        { class: 'tries', 'aria-label': 'Three things to try' },
        ...EXAMPLES.map((one) => this.#tryRow(one)),
      ),
      this.#places,
      h(
        'details',
        { class: 'watch', open: true },
        h('summary', {}, 'What to watch for'),
        h('ul', {}, ...HINTS.map((sentence) => h('li', {}, sentence))),
      ),
    );
  }

  /** What else there is: the same things that Slack offers, a press away. */
  #drawPlaces(): void {
    const withBot = state.place?.members.includes(state.workspace.bot) === true;
    const type = (text: string) => () =>
      void warnOnFailure(
        performAction({ kind: 'command', person: state.me, channel: state.channel, command: '/agent', text }),
      );
    const offers = [
      ['Ask with a form', type('new')],
      ['Your tasks', () => openApp('home')],
      withBot && (['Settings here', type('settings')] as const),
      ['What else it takes', type('help')],
    ] as const;
    fill(
      this.#places,
      'Or: ',
      offers.map(
        (offer) => offer && h('button', { type: 'button', class: 'button', onclick: offer[1] }, offer[0]),
      ),
    );
  }

  #tryRow({ title, text, withSample }: Example): HTMLElement {
    const use = async () =>
      this.#composer.suggest(`${mention()}${text}`, withSample ? [await sampleFile()] : []);
    return h(
      'li',
      {},
      h(
        'button',
        { type: 'button', class: 'try', onclick: () => void use() },
        title,
        withSample && h('span', { class: 'soft' }, ' with the sample table'),
      ),
    );
  }

  async #attachSample(): Promise<void> {
    this.#composer.attach([await sampleFile()]);
  }
}
