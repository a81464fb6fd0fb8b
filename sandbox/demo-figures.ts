import { z } from 'zod';
import type { AgentService } from './agent/agent-service.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

const finalizeSchema = z.looseObject({ parts: z.array(z.unknown()) });

/** What the demo measures, from its construction on. */
export class DemoFigures {
  readonly #slack: SlackWorkspace;
  readonly #agent: AgentService;
  readonly #began = performance.now();
  #visibleMs: number | undefined;
  #crash: { at: number; ts: string } | undefined;
  #secondsWithoutBot: number | undefined;

  constructor(slack: SlackWorkspace, agent: AgentService) {
    this.#slack = slack;
    this.#agent = agent;
    slack.onChange(({ kind, message }) => {
      const now = performance.now();
      if (kind === 'posted' && message.user === slack.bot.userId) this.#visibleMs ??= now - this.#began;
      if (kind === 'edited' && message.ts === this.#crash?.ts)
        this.#secondsWithoutBot ??= (now - this.#crash.at) / 1_000;
    });
  }

  /** Records that the bot was killed while it wrote the message `ts`. */
  markCrash(ts: string): void {
    this.#crash = { at: performance.now(), ts };
  }

  /** From the crash to the next edit of the same message; undefined before. */
  get secondsWithoutBot(): number | undefined {
    return this.#secondsWithoutBot;
  }

  /** Names and values. */
  lines(): [string, string][] {
    const { calls, throttledCalls } = this.#slack;
    const edits = calls.filter(({ method }) => method === 'chat.update').length;
    const refused = Object.values(throttledCalls).reduce((sum, count) => sum + count, 0);
    const uploaded = this.#agent.files.filter(({ purpose }) => purpose === 'input');
    const bytes = uploaded.reduce((sum, { size }) => sum + size, 0);
    return [
      ['first visible reply after', seconds((this.#visibleMs ?? 0) / 1_000)],
      ['from kill -9 to the next edit', seconds(this.#secondsWithoutBot ?? 0)],
      ['edits', String(edits)],
      ['uploaded', `${(bytes / 1_000_000).toFixed(1)} MB in ${this.#countParts()} parts`],
      ['results', String(this.#agent.tasks.reduce((sum, { results }) => sum + results.length, 0))],
      ['calls refused by Slack', String(refused)],
      ['the whole conversation', seconds((performance.now() - this.#began) / 1_000)],
    ];
  }

  /** The number of parts in all finalized uploads. */
  #countParts(): number {
    const finalized = this.#agent.calls.filter(({ name }) => name.endsWith('/finalize'));
    return finalized.reduce((sum, { body }) => {
      const parsed = finalizeSchema.safeParse(body);
      return sum + (parsed.success ? parsed.data.parts.length : 0);
    }, 0);
  }
}

function seconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}
