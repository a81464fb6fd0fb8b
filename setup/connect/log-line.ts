import { pino } from 'pino';
import { z } from 'zod';

const lineSchema = z.looseObject({
  level: z.string().transform((name) => pino.levels.values[name] ?? 0),
  msg: z.string(),
  step: z.string().optional(),
  outcome: z.string().nullish(),
  port: z.number().optional(),
});

/** What a line of the bot's log means for somebody who waits for the first answer. */
export type Sign =
  | { kind: 'running'; port: number | undefined }
  | { kind: 'heard' }
  | { kind: 'answered' }
  | { kind: 'unanswered'; outcome: string }
  | { kind: 'problem'; message: string };

/** The levels of pino: 40 is a warning, 50 an error. */
const WARNING = 40;

/** Reads one line of the log; undefined if it means nothing here. */
export function readLogLine(line: string): Sign | undefined {
  const parsed = lineSchema.safeParse(tryJson(line));
  if (!parsed.success) return line.trim() === '' ? undefined : { kind: 'problem', message: line };
  const { level, msg, step, outcome, port } = parsed.data;
  if (msg === 'taskthread is running') return { kind: 'running', port };
  if (step === 'visible') return { kind: 'heard' };
  if (step === 'finished')
    return outcome === 'completed' || outcome === 'length'
      ? { kind: 'answered' }
      : { kind: 'unanswered', outcome: outcome ?? 'unknown' };
  return level >= WARNING ? { kind: 'problem', message: msg } : undefined;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
