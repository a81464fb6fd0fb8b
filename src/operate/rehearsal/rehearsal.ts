import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { z } from 'zod';
import { AgentError, AgentRejectedError } from '../../agent/errors.ts';
import { anySignal, unlessAborted, within } from '../../calls/retries-and-waits.ts';
import { toOneLine } from '../../render/text-format.ts';
import { SlackError } from '../../slack/errors.ts';
import { openStage, type PlayedCall, type Stage, type StageOptions } from './stage.ts';
import { STEPS, type Step, StepEnded, UNDELETABLE } from './steps.ts';

/** How a step went. */
export interface PlayedStep {
  step: string;
  outcome: 'as expected' | 'degraded' | 'refused' | 'skipped';
  /** Which fallback was needed, the error's code, or why it was skipped. */
  note?: string | undefined;
  /** Settings that say otherwise. */
  settings?: readonly string[] | undefined;
  ms: number;
  calls: readonly PlayedCall[];
}

/** A rehearsal as `rehearsal.json` holds it: without tokens, names, ids and texts. */
export interface Rehearsal {
  begunAt: string;
  isComplete: boolean;
  /** The protocols of the connections, by whose they are. */
  protocols: Record<string, readonly string[]>;
  steps: readonly PlayedStep[];
  /** What could not be deleted. */
  left: readonly string[];
}

/** Whether every step was played, none was refused, and all was deleted but for what no call deletes. */
export function hasPassed({ isComplete, steps, left }: Rehearsal): boolean {
  const isDeleted = left.every((what) => what === UNDELETABLE);
  return isComplete && isDeleted && steps.every(({ outcome }) => outcome !== 'refused');
}

/** The longest that a step may take, and that one that is interrupted is waited for before what it left is deleted (ms). */
const STEP_TIMEOUT_MS = 5 * 60_000;
const INTERRUPTED_WAIT_MS = 15_000;
const MAX_WORDS_LENGTH = 300;

/** How a step ended; `words` are what Slack, the service or the system says, which may identify somebody. */
type StepEnd = Pick<PlayedStep, 'outcome' | 'note'> & { words?: string };

/**
 * Plays every step, and deletes what they left, also if one fails or `interrupted` is aborted. Throws a SlackError if the token is
 * refused. `onStep` is called after each step, with the words of what refused it for the terminal alone.
 */
export async function rehearse(
  options: StageOptions,
  interrupted: AbortSignal,
  onStep: (step: PlayedStep, words?: string) => void,
): Promise<Rehearsal> {
  const begunAt = new Date().toISOString();
  using connections = watchConnections(options.config);
  const stage = await openStage(options);
  const steps: PlayedStep[] = [];
  let left: string[] = [];
  try {
    for (const step of STEPS) {
      if (interrupted.aborted) break;
      const { words, ...played } = await playStep(step, stage, interrupted);
      steps.push(played);
      onStep(played, words);
    }
  } finally {
    left = await stage.clear();
  }
  return { begunAt, isComplete: !interrupted.aborted, protocols: connections.protocols(), steps, left };
}

async function playStep(
  { name: step, play, settings, isOffByDefault = false }: Step,
  stage: Stage,
  interrupted: AbortSignal,
): Promise<PlayedStep & StepEnd> {
  const signal = anySignal([interrupted, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  const since = performance.now();
  const playing = play(stage, signal);
  const end = await unlessAborted(playing, signal).then(
    (note): StepEnd => (note === undefined ? { outcome: 'as expected' } : { outcome: 'degraded', note }),
    async (error: unknown) => {
      // What it still makes is to be deleted, too.
      const ended = playing.catch(() => undefined);
      await within(INTERRUPTED_WAIT_MS, ended, undefined);
      return failedEnd(error);
    },
  );
  const ms = Math.round(performance.now() - since);
  const differs = end.outcome !== 'skipped' && (end.outcome === 'as expected') === isOffByDefault;
  return { step, ...end, ...(differs && { settings }), ms, calls: stage.calls.splice(0) };
}

function failedEnd(error: unknown): StepEnd {
  if (error instanceof StepEnded) return { outcome: error.outcome, note: error.message };
  const refused = (note: string, said: string) => {
    const words = toOneLine(said).slice(0, MAX_WORDS_LENGTH);
    return { outcome: 'refused', note, ...(words !== '' && { words }) } as const;
  };
  if (error instanceof SlackError)
    return refused(`${error.method}: ${error.slackCode}`, (error.reasons ?? []).join('; '));
  if (error instanceof AgentError) {
    const said = error instanceof AgentRejectedError ? error.reason : error.message;
    return refused(`${error.code} (${error.status ?? 'no response'})`, said);
  }
  if (!(error instanceof Error)) return refused(typeof error, String(error));
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  return refused(`${error.name}${code}`, error.message);
}

const connectedSchema = z.looseObject({
  connectParams: z.looseObject({ hostname: z.string(), version: z.string().nullish() }),
});

/** Notes which version of HTTP each new connection speaks, by whose it is. */
function watchConnections({ SLACK_API_URL, AGENT_BASE_URL }: StageOptions['config']) {
  const found = new Map<string, Set<string>>();
  const hostOf = (url = '') => URL.parse(url)?.hostname;
  const onConnected = (message: unknown) => {
    const { data } = connectedSchema.safeParse(message);
    if (data === undefined) return;
    const { hostname, version } = data.connectParams;
    const isSlack = hostname === hostOf(SLACK_API_URL) || hostname.endsWith('.slack.com');
    const whose = isSlack ? 'Slack' : hostname === hostOf(AGENT_BASE_URL) ? 'agent service' : 'file storage';
    const protocols = found.get(whose) ?? new Set();
    found.set(whose, protocols.add(version === 'h2' ? 'HTTP/2' : 'HTTP/1.1'));
  };
  subscribe('undici:client:connected', onConnected);
  return {
    [Symbol.dispose]: () => unsubscribe('undici:client:connected', onConnected),
    protocols: () => Object.fromEntries([...found].map(([whose, protocols]) => [whose, [...protocols]])),
  };
}
