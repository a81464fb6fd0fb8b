import { styleText } from 'node:util';
import { formatFileSize } from './page/browser/file-size.ts';
import { type Block, isFields } from './slack/model.ts';
import type { Change, Message, SlackFile, SlackWorkspace } from './slack/slack-workspace.ts';
import { visibleText } from './slack/visible-text.ts';

const DEFAULT_WIDTH = 120;
const MIN_TEXT_WIDTH = 20;
const MAX_LINES_PER_POST = 4;
/** Characters that are two columns wide. */
const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
const CHANNEL_COLOURS = ['cyan', 'magenta', 'blue', 'green'] as const;

/** Prints what people see in the workspace's threads: in colour on a terminal, otherwise plain. */
export class ThreadPrinter {
  readonly #slack: SlackWorkspace;
  readonly #startedAt: number;
  readonly #print: (line: string) => void;
  readonly #shown = new Map<string, string>();
  readonly stop: () => void;

  /** Prints each change as it happens, until `stop`. `startedAt` is a time of `performance.now()`. */
  constructor(
    slack: SlackWorkspace,
    startedAt: number,
    print: (line: string) => void = (line) => console.log(line),
  ) {
    this.#slack = slack;
    this.#startedAt = startedAt;
    this.#print = print;
    this.stop = slack.onChange((change) => this.#printChange(change));
  }

  /** Prints what happens outside the threads, such as a crash. */
  printEvent(text: string): void {
    this.#print(`${this.#time()}  ${styleText(['yellow', 'bold'], `▶ ${text}`)}`);
  }

  /** Prints a whole thread, oldest message first. */
  printThread(channelId: string, rootTs: string): void {
    this.#print(`\n${styleText('bold', 'The thread in')} ${this.#channelTag(channelId)}`);
    for (const message of this.#slack.thread(channelId, rootTs)) {
      this.#print(`\n${styleText('bold', `${this.#personName(message.user)}:`)}`);
      for (const line of this.#textOf(message).split('\n')) this.#print(`  ${line}`);
    }
  }

  /** A post shows its first lines, an edit one line: the first that it changed. */
  #printChange({ kind, channel, message }: Change): void {
    if (kind !== 'posted' && kind !== 'edited') return;
    const text = this.#textOf(message);
    const before = this.#shown.get(message.ts) ?? '';
    this.#shown.set(message.ts, text);
    const added = text.slice(commonLinesLength(before, text)).trim();
    if (added === '') return;
    const lines = added.split('\n').filter((line) => line.trim() !== '');
    const rest = lines.splice(kind === 'posted' ? MAX_LINES_PER_POST : 1).length;
    const more = rest === 0 ? '' : ` (+${rest} ${rest === 1 ? 'line' : 'lines'})`;
    const who = `${this.#personName(message.user).padEnd(10)} ${kind === 'posted' ? 'posts' : 'edits'} `;
    const head = `${this.#time()}  ${this.#channelTag(channel.id)}  ${who}`;
    const headWidth = this.#headWidth(who);
    for (const [index, line] of lines.entries()) {
      const suffix = index === lines.length - 1 ? more : '';
      const room = (process.stdout.columns || DEFAULT_WIDTH) - headWidth - 2 - suffix.length;
      const left = index === 0 ? head : ' '.repeat(headWidth);
      const shown = fitted(line, Math.max(MIN_TEXT_WIDTH, room));
      this.#print(`${left}${styleText('dim', '│')} ${shown}${styleText('dim', suffix)}`);
    }
  }

  #time(): string {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    return styleText('dim', `${seconds.padStart(5)} s`);
  }

  /** The columns before a message's text. */
  #headWidth(who: string): number {
    return 7 + 2 + this.#tagWidth() + 2 + who.length;
  }

  #tagWidth(): number {
    return Math.max(...[...this.#slack.team.channels.values()].map(({ name }) => name.length + 1));
  }

  /** The channel's name in its colour, as wide as the longest name. */
  #channelTag(id: string): string {
    const place = [...this.#slack.team.channels.keys()].indexOf(id);
    const colour = CHANNEL_COLOURS[place % CHANNEL_COLOURS.length] ?? 'cyan';
    return styleText(colour, this.#channelName(id).padEnd(this.#tagWidth()));
  }

  /** The message's text with names in place of ids, and a line for each file. */
  #textOf(message: Message): string {
    const { blocks, text: plain } = message;
    const text = this.#withNames(blocks === undefined ? plain : visibleText(blocks.map(withButtonLabels)));
    const files = message.fileIds.map((id) => describeFile(this.#slack.file(id)));
    return [text, ...files].filter((part) => part !== '').join('\n');
  }

  /** Slack's references (`<@U…>`, `<#C…>`, `<!here>`, `<https://…|label>`) and entities as people see them. */
  #withNames(text: string): string {
    return text
      .replaceAll(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id: string) => `@${this.#personName(id)}`)
      .replaceAll(/<#([CG][A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id: string) => this.#channelName(id))
      .replaceAll(/<!(here|channel|everyone)>/g, '@$1')
      .replaceAll(/<(?:https?:|mailto:|!)[^|>\s]*\|([^>]*)>/g, '$1')
      .replaceAll(/<((?:https?:|mailto:)[^|>\s]*)>/g, '$1')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  }

  #personName(id: string): string {
    if (id === this.#slack.bot.userId) return 'Taskthread';
    return this.#slack.team.people.get(id)?.realName ?? id;
  }

  #channelName(id: string): string {
    return `#${this.#slack.team.channels.get(id)?.name ?? id}`;
  }
}

/** As much of a line as fits into so many columns. */
function fitted(line: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const character of line) {
    width += WIDE.test(character) ? 2 : 1;
    if (width <= columns - 1) end += character.length;
  }
  return width <= columns ? line : `${line.slice(0, end)}…`;
}

/** A block whose buttons read `[Stop]`, those of a row on one line. */
function withButtonLabels(block: Block): Block {
  if (block.type === 'actions' || block.type === 'context_actions')
    return { type: block.type, text: buttonLabels(block.elements) };
  return isFields(block.accessory) ? { ...block, accessory: { text: buttonLabels(block.accessory) } } : block;
}

function buttonLabels(elements: unknown): string {
  const labels = visibleText(elements).split('\n');
  return labels.map((label) => `[${label}]`).join(' ');
}

function describeFile({ name, mime, content }: SlackFile): string {
  const kind = mime.startsWith('image/') ? 'picture' : 'file';
  return `[${kind} ${name ?? 'untitled'}, ${formatFileSize(content.size)}]`;
}

/** The length of the lines with which both texts begin. */
function commonLinesLength(before: string, after: string): number {
  let index = 0;
  while (index < before.length && before[index] === after[index]) index += 1;
  return index === after.length && index === before.length ? index : after.lastIndexOf('\n', index) + 1;
}
