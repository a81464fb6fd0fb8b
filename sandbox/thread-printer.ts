import type { SlackWorkspace } from './slack/slack-workspace.ts';

const LINE_WIDTH = 100;

/** Prints what people would see in the workspace's threads. */
export class ThreadPrinter {
  readonly #slack: SlackWorkspace;
  readonly #startedAt: number;
  readonly #last = new Map<string, string>();
  readonly stop: () => void;

  /** Prints each change as it happens until `stop`. `began` is on the clock of `performance.now()`. */
  constructor(slack: SlackWorkspace, began: number) {
    this.#slack = slack;
    this.#startedAt = began;
    this.stop = slack.onChange((change) => this.#print(change));
  }

  /** A thread as it stands. */
  printThread(channelName: string, channel: string, root: string): void {
    console.log(
      `\n──── the thread in ${channelName}, as it stands ${'─'.repeat(Math.max(0, 60 - channelName.length))}`,
    );
    for (const message of this.#slack.thread(channel, root)) {
      console.log(`\n${this.#nameOf(message.user)}:`);
      for (const line of this.#slack.visibleText(message).split('\n')) console.log(`  ${line}`);
    }
  }

  #print(change: Parameters<Parameters<SlackWorkspace['onChange']>[0]>[0]): void {
    if (change.kind !== 'posted' && change.kind !== 'edited') return;
    const { message } = change;
    const shown = this.#slack.visibleText(message);
    const before = this.#last.get(message.ts) ?? '';
    this.#last.set(message.ts, shown);
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(5);
    const fresh = shown.slice(commonPrefixLength(before, shown)).trim().split('\n');
    const lines = fresh.length > 5 ? [...fresh.slice(0, 4), `… (${fresh.length - 4} more lines)`] : fresh;
    const what = change.kind === 'posted' ? 'writes' : 'edits ';
    for (const [index, line] of lines.entries()) {
      const head = index === 0 ? `${seconds} s  ${this.#nameOf(message.user)} ${what}` : ' '.repeat(8);
      console.log(`${head.padEnd(30)}│ ${line.slice(0, LINE_WIDTH)}`);
    }
  }

  #nameOf(user: string): string {
    if (user === this.#slack.bot.userId) return this.#slack.team.bot.name;
    return this.#slack.person(user).realName;
  }
}

function commonPrefixLength(before: string, after: string): number {
  let index = 0;
  while (index < before.length && before[index] === after[index]) index += 1;
  return after.lastIndexOf('\n', index) + 1;
}
