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

/** What the demo measured. */
export interface DemoFigures {
  /** From the first mention to the first reply. */
  firstVisibleSeconds: number;
  /** From the crash to the next edit of the same message. */
  takeoverSeconds: number;
  edits: number;
  uploadedBytes: number;
  uploadedParts: number;
  results: number;
  /** Calls that Slack refused for its rate limits. */
  refused: number;
  /** The whole conversation. */
  seconds: number;
}

export function demoFigures(slack: SlackWorkspace, agent: AgentService, times: DemoTimes): DemoFigures {
  const { calls, throttledCalls } = slack;
  const firstPost = calls.find(({ method, ok }) => method === 'chat.postMessage' && ok)?.at ?? Number.NaN;
  const uploaded = agent.files.filter(({ purpose }) => purpose === 'input');
  const parts = agent.calls.flatMap(({ body }) => finalizeSchema.safeParse(body).data?.parts ?? []);
  return {
    firstVisibleSeconds: (firstPost - times.began) / 1_000,
    takeoverSeconds: secondsWithoutBot(times) ?? Number.NaN,
    edits: calls.filter(({ method }) => method === 'chat.update').length,
    uploadedBytes: uploaded.reduce((sum, { size }) => sum + size, 0),
    uploadedParts: parts.length,
    results: agent.tasks.reduce((sum, { results }) => sum + results.length, 0),
    refused: Object.values(throttledCalls).reduce((sum, count) => sum + count, 0),
    seconds: (Date.now() - times.began) / 1_000,
  };
}

/** The figures as the demo prints them: names and values. */
export function demoFigureRows(figures: DemoFigures): [name: string, value: string][] {
  return [
    ['first visible reply after', seconds(figures.firstVisibleSeconds)],
    ['from kill -9 to the next edit', seconds(figures.takeoverSeconds)],
    ['edits', String(figures.edits)],
    ['uploaded', `${(figures.uploadedBytes / 1_000_000).toFixed(1)} MB in ${figures.uploadedParts} parts`],
    ['results', String(figures.results)],
    ['calls refused by Slack', String(figures.refused)],
    ['the whole conversation', seconds(figures.seconds)],
  ];
}

function seconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}
