import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { z } from 'zod';
import { AgentError, AgentRejectedError } from '../../agent/errors.ts';
import { anySignal, unlessAborted, within } from '../../calls/retries-and-waits.ts';
import { toOneLine } from '../../render/text-format.ts';
import { SlackError } from '../../slack/errors.ts';
import { openStage, type PlayedCall, type Stage, type StageOptions } from './stage.ts';
import { STEPS, type Step, StepFailed, StepSkipped, UNDELETABLE } from './steps.ts';

/** How a step went. */
export interface PlayedStep {
  step: string;
  outcome: 'as expected' | 'degraded' | 'refused' | 'skipped';
  /** Which fallback was needed, the error's code, or why it was skipped. */
  note?: string;
  /** Settings that say otherwise. */
  settings?: readonly string[];
  ms: number;
  calls: readonly PlayedCall[];
}

/** A rehearsal as `rehearsal.json` holds it: without tokens, names, ids and texts. */
export interface Rehearsal {
  begunAt: string;
  isComplete: boolean;
  steps: readonly PlayedStep[];
  /** The protocols of the connections, by whose they are. */
  protocols: Record<string, readonly string[]>;
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

/**
 * Plays every step, and deletes what they left, also if one fails or `interrupted` is aborted. Throws a SlackError if the token is
 * refused. `onStep` is called after each step, with the words of what refused it: they may identify somebody, so they are for
 * the terminal alone.
 */
export async function rehearse(
  options: StageOptions,
  interrupted: AbortSignal,
  onStep: (step: PlayedStep, words?: string) => void,
): Promise<Rehearsal> {
  const begunAt = new Date().toISOString();
  const connections = watchConnections(options.config);
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
    connections.stop();
    await stage.close();
  }
  return { begunAt, isComplete: !interrupted.aborted, steps, protocols: connections.protocols(), left };
}

async function playStep(
  { name: step, play, settings, isOffByDefault }: Step,
  stage: Stage,
  interrupted: AbortSignal,
): Promise<PlayedStep & { words?: string }> {
  const signal = anySignal([interrupted, AbortSignal.timeout(STEP_TIMEOUT_MS)]);
  const since = performance.now();
  const playing = play(stage, signal);
  const found = await unlessAborted(playing, signal).then(
    (note) => ({ outcome: note === undefined ? 'as expected' : 'degraded', note, words: undefined }) as const,
    async (error: unknown) => {
      // What it still makes is to be deleted, too.
      await within(
        INTERRUPTED_WAIT_MS,
        playing.catch(() => undefined),
        undefined,
      );
      const outcome = error instanceof StepSkipped ? 'skipped' : 'refused';
      return { outcome, note: noteOf(error), words: wordsOf(error) } as const;
    },
  );
  const ms = Math.round(performance.now() - since);
  const calls = stage.takeCalls().map((one) => ({ ...one, ms: Math.round(one.ms) }));
  const differs = isOffByDefault === (found.outcome === 'as expected' ? true : undefined);
  const isAbout = settings !== undefined && found.outcome !== 'skipped' && differs;
  const { outcome, note, words } = found;
  const said = { ...(note !== undefined && { note }), ...(words !== undefined && { words }) };
  return { step, outcome, ...said, ...(isAbout && { settings }), ms, calls };
}

/** Why a step ended, without what the service or the system says: that may identify somebody. */
function noteOf(error: unknown): string {
  if (error instanceof StepSkipped || error instanceof StepFailed) return error.message;
  if (error instanceof SlackError) return `${error.method}: ${error.slackCode}`;
  if (error instanceof AgentError) return `${error.code} (${error.status ?? 'no response'})`;
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}

/** What Slack, the service or the system says of an error; undefined if the note says it. */
function wordsOf(error: unknown): string | undefined {
  if (error instanceof StepSkipped || error instanceof StepFailed) return undefined;
  const words =
    error instanceof SlackError
      ? (error.reasons ?? []).join('; ')
      : error instanceof AgentRejectedError
        ? error.reason
        : String(error instanceof Error ? error.message : error);
  return toOneLine(words).slice(0, MAX_WORDS_LENGTH) || undefined;
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
    stop: () => unsubscribe('undici:client:connected', onConnected),
    protocols: () => Object.fromEntries([...found].map(([whose, protocols]) => [whose, [...protocols]])),
  };
}
