import { z } from 'zod';
import type { AgentService } from './agent/agent-service.ts';
import type { Message, SlackWorkspace } from './slack/slack-workspace.ts';

const finalizeSchema = z.looseObject({ parts: z.array(z.unknown()) });

/** When the demo began, and when it killed the bot in the middle of the message `growing` (Unix ms). */
interface DemoTimes {
  began: number;
  crashed: number;
  growing: Message;
}

/** From the crash to the next edit of the same message; undefined before. */
export function secondsWithoutBot({ crashed, growing }: DemoTimes): number | undefined {
  const next = growing.versions.find(({ at }) => at > crashed);
  return next && (next.at - crashed) / 1_000;
}

/** What the demo measured: names and values. */
export function demoFigures(
  slack: SlackWorkspace,
  agent: AgentService,
  times: DemoTimes,
): [name: string, value: string][] {
  const { calls, throttledCalls } = slack;
  const firstPost = calls.find(({ method, ok }) => method === 'chat.postMessage' && ok)?.at ?? Number.NaN;
  const uploaded = agent.files.filter(({ purpose }) => purpose === 'input');
  const bytes = uploaded.reduce((sum, { size }) => sum + size, 0);
  const parts = agent.calls.flatMap(({ body }) => finalizeSchema.safeParse(body).data?.parts ?? []);
  const refused = Object.values(throttledCalls).reduce((sum, count) => sum + count, 0);
  return [
    ['first visible reply after', seconds((firstPost - times.began) / 1_000)],
    ['from kill -9 to the next edit', seconds(secondsWithoutBot(times) ?? Number.NaN)],
    ['edits', String(calls.filter(({ method }) => method === 'chat.update').length)],
    ['uploaded', `${(bytes / 1_000_000).toFixed(1)} MB in ${parts.length} parts`],
    ['results', String(agent.tasks.reduce((sum, { results }) => sum + results.length, 0))],
    ['calls refused by Slack', String(refused)],
    ['the whole conversation', seconds((Date.now() - times.began) / 1_000)],
  ];
}

function seconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}
