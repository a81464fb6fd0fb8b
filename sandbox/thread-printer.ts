import { formatFileSize } from './page/browser/file-size.ts';
import { type Block, isFields } from './slack/model.ts';
import type { Change, Message, SlackFile, SlackWorkspace } from './slack/slack-workspace.ts';
import { visibleText } from './slack/visible-text.ts';

const LINE_WIDTH = 100;
const MAX_LINES_PER_CHANGE = 5;
const HEAD_WIDTH = 44;

/** Prints what people see in the workspace's threads. */
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

  /** Prints a whole thread, oldest message first. */
  printThread(channelId: string, rootTs: string): void {
    const title = `──── The thread in ${this.#channelName(channelId)} `;
    this.#print(`\n${title.padEnd(90, '─')}`);
    for (const message of this.#slack.thread(channelId, rootTs)) {
      this.#print(`\n${this.#personName(message.user)}:`);
      for (const line of this.#textOf(message).split('\n')) this.#print(`  ${line}`);
    }
  }

  #printChange({ kind, channel, message }: Change): void {
    if (kind !== 'posted' && kind !== 'edited') return;
    const text = this.#textOf(message);
    const before = this.#shown.get(message.ts) ?? '';
    this.#shown.set(message.ts, text);
    const added = text.slice(commonLinesLength(before, text)).trim();
    if (added === '') return;
    const lines = added.split('\n').filter((line) => line.trim() !== '');
    const rest = lines.splice(MAX_LINES_PER_CHANGE);
    if (rest.length > 0) lines.push(`… (${rest.length} more ${rest.length === 1 ? 'line' : 'lines'})`);
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(5);
    const verb = kind === 'posted' ? 'posts' : 'edits';
    const place = this.#channelName(channel.id);
    for (const [index, line] of lines.entries()) {
      const head = index === 0 ? `${seconds} s  ${place}  ${this.#personName(message.user)} ${verb}` : '';
      this.#print(`${head.padEnd(HEAD_WIDTH)}│ ${line.slice(0, LINE_WIDTH)}`);
    }
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
