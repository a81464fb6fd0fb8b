import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AgentError } from '../agent/errors.ts';
import { valueIf } from '../calls/retries-and-waits.ts';
import { accessPolicyFor, certainClosingAt, closingAt } from '../relay/access/access-policy.ts';
import { exceededQuota } from '../relay/access/quotas.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { WORKFLOW_STEP } from '../relay/runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../relay/runtime/job-runner.ts';
import { isOverdue, transientFailure } from '../relay/runtime/retry-and-giving-up.ts';
import { neutralizePings } from '../render/markdown/pings.ts';
import { answerText } from '../render/messages/answer-text.ts';
import * as strings from '../render/strings/index.ts';
import { shorten } from '../render/text-format.ts';
import { PayloadRefusedError, SlackError } from '../slack/errors.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../store/jobs/jobs.ts';
import type { Job, Message, MessageContent, SlackTs, Thread, Turn } from '../store/schema.ts';
import { isOver } from '../store/threads/turn-phase.ts';
import { taskIdOf } from '../store/threads/turns.ts';

const words = strings.workflowStep.failed;
/** The pauses between two looks at a step (ms). */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Slack publishes no limit for an output; its texts have at most 3,000 characters elsewhere. */
const MAX_ANSWER_CHARACTERS = 3_000;
/** A step whose answer the service does not give for this long (ms) completes without it. */
const MAX_ANSWER_WAIT_MS = 60 * 60_000;

/** A step that Slack runs; its channel is '' if the workflow gives none that can be used. */
export interface WorkflowStepRun {
  workspace: string;
  channel: string;
  /** Slack's id of this run of the step. */
  execution_id: string;
  /** It completes with the answer, not as soon as its task has begun. */
  waits_for_answer: boolean;
  /** The question and what the step says of itself; the person whom it names gets no rights. */
  content: MessageContent;
}

const stepSchema = z.object({
  /** The start that posts its question; there is none after a refusal. */
  start_id: z.uuid(),
  /** Why it asked nothing: a key of the sentences for it. */
  refusal: z.enum(['not_allowed', 'limit', 'invalid', 'closed']).nullable(),
  waits_for_answer: z.boolean(),
  /** The thread of its question, once that is posted. */
  thread_ts: z.string().optional(),
});
type StepRequest = Omit<z.infer<typeof stepSchema>, 'start_id' | 'thread_ts'>;

/** The step "Ask the agent" of Slack's workflows: it starts one task for each run, and is completed once. */
export function workflowSteps(deps: RelayDeps, runDue: () => void) {
  /** Jobs that complete the steps. Of a step that is given up, the person who keeps the workflow sees that it failed. */
  const jobs: JobKind = {
    kind: JOB_KIND.workflowStep,
    share: 3,
    isRemembered: true,
    perform: (job, { signal }) => complete(job, signal),
    onGivenUp: (job, { signal }) => fail(job, 'given_up', signal),
  };

  /** Records a run and its start in one transaction; a repeated one does nothing. Throws a StoreError. */
  async function accept(run: WorkflowStepRun): Promise<void> {
    const { content, ...step } = run;
    const { workspace, channel, execution_id: key, waits_for_answer } = step;
    const isInvalid = channel === '' || !/\S/.test(content.text);
    const refusal = isInvalid ? 'invalid' : await denialIn(run);
    const id = randomUUID();
    const payload = { start_id: id, refusal, waits_for_answer } satisfies z.infer<typeof stepSchema>;
    const job = { workspace, kind: JOB_KIND.workflowStep, channel, key } as const;
    await deps.store.transaction(async ({ jobs, taskStarts, audit }) => {
      // Slack repeats a step for an hour.
      if (!(await jobs.add({ ...job, thread_ts: CHANNEL_LEVEL, payload }))) return;
      if (refusal === null) {
        await taskStarts.send({ workspace, id, user_id: WORKFLOW_STEP, channel, content });
        return;
      }
      const details = { control: 'workflow_step', why: refusal };
      await audit.addRefusal({ workspace, channel, user_id: WORKFLOW_STEP, details });
    });
    deps.log.info({ ...step, refusal }, 'a step of a workflow runs');
    runDue();
  }

  /** Why no step may ask in a channel now. */
  async function denialIn(place: Pick<WorkflowStepRun, 'workspace' | 'channel'>) {
    if ((await certainClosingAt(deps, place)) !== undefined) return 'closed';
    const { allowedBots } = await accessPolicyFor(deps, place);
    if (!allowedBots.includes(WORKFLOW_STEP)) return 'not_allowed';
    const { store, settings } = deps;
    const exceeded = await exceededQuota(store.turnUsage, place.workspace, WORKFLOW_STEP, settings.quotas);
    return exceeded === undefined ? null : 'limit';
  }

  /** Completes a step in Slack once it has come so far. Repeated after a crash, Slack says that it was completed. */
  async function complete(job: Job, signal: AbortSignal): Promise<JobOutcome> {
    const executions = deps.workspace(job.workspace)?.workflowExecutions;
    if (executions === undefined) return 'later';
    const step = await progressOf(job);
    if (!isReady(step))
      return { inMs: pauseMs(job), payload: { ...job.payload, thread_ts: step.thread_ts ?? undefined } };
    // Its answer would leave a place that was closed since.
    const isClosed = (await closingAt(deps, job, signal)) !== undefined;
    const found = step.refusal ?? (isClosed ? 'closed' : failureOf(step));
    // Nobody was told of a refused message: why a step may not ask is looked up again.
    const isRefused = found === 'refused' && step.message?.state === 'refused';
    const failure = isRefused ? ((await denialIn(job)) ?? found) : found;
    const outcome =
      failure === undefined ? { outputs: await outputsOf(step, signal) } : { error: words[failure] };
    try {
      await executions.complete(job.key, outcome, signal);
      return 'done';
    } catch (error) {
      if (signal.aborted || !(error instanceof SlackError) || transientFailure(error) !== undefined)
        throw error;
      deps.log.warn({ ...job, err: error }, 'could not complete a step of a workflow');
      await fail(job, error instanceof PayloadRefusedError ? 'outputs' : 'given_up', signal);
      return 'given_up';
    }
  }

  /** Completes a step in Slack as failed, if Slack lets us. Throws transient failures. */
  async function fail(job: Job, failure: keyof typeof words, signal: AbortSignal): Promise<void> {
    const executions = deps.workspace(job.workspace)?.workflowExecutions;
    await executions?.complete(job.key, { error: words[failure] }, signal);
  }

  async function progressOf(job: Job): Promise<StepProgress> {
    const { store } = deps;
    const { workspace, channel } = job;
    const { start_id, thread_ts: known, ...asked } = stepSchema.parse(job.payload);
    const start = known === undefined ? await store.taskStarts.get({ workspace, id: start_id }) : undefined;
    const thread_ts = known ?? start?.thread_ts ?? null;
    const isPosting = start !== undefined && start.state !== 'done';
    const step = { workspace, channel, ...asked, isPosting, thread_ts };
    if (thread_ts === null) return step;
    const root = { workspace, channel, ts: thread_ts };
    const [thread, turn, message] = await Promise.all([
      store.threads.get({ workspace, channel, thread_ts }),
      store.turns.ofMessage(root),
      store.messages.get(root),
    ]);
    return { ...step, thread, turn, message };
  }

  async function outputsOf(step: StepProgress, signal: AbortSignal): Promise<Record<string, string>> {
    const link = await linkOf(step);
    const answer = step.waits_for_answer ? await answerOf(step, signal) : undefined;
    const task_id = taskIdOf(step.turn, step.thread);
    return {
      state: step.turn?.outcome ?? 'running',
      ...(link !== undefined && { link }),
      ...(task_id !== null && { task_id }),
      ...(answer !== undefined && { answer }),
    };
  }

  /** The thread's link; undefined if its post was deleted, or the bot can no longer see it. */
  async function linkOf({ workspace, channel, thread_ts: ts }: StepProgress): Promise<string | undefined> {
    if (ts === null) return undefined;
    const isLasting = (error: unknown) =>
      error instanceof SlackError && transientFailure(error) === undefined;
    const link = deps.workspace(workspace)?.posting.getPermalink({ channel, ts });
    return await link?.catch(valueIf(undefined, isLasting));
  }

  /** The answer as Markdown that notifies nobody; undefined if there is none. Throws transient failures of the service. */
  async function answerOf(step: StepProgress, signal: AbortSignal): Promise<string | undefined> {
    const { thread, turn } = step;
    const task = taskIdOf(turn, thread);
    if (task === null || thread === undefined || turn === undefined) return undefined;
    const { assistant_message_id, finished_at } = turn;
    if (assistant_message_id === null) return undefined;
    try {
      const agent = deps.agent(thread.account_id);
      const message = await agent.getMessage(task, assistant_message_id, { signal });
      const text = answerText(message.content);
      return neutralizePings(shorten(text, MAX_ANSWER_CHARACTERS));
    } catch (error) {
      const isLate = finished_at !== null && isOverdue(finished_at, MAX_ANSWER_WAIT_MS);
      if (!(error instanceof AgentError) || (transientFailure(error) !== undefined && !isLate)) throw error;
      return undefined;
    }
  }

  return { jobs, accept };
}

/** What is known of a step: of its start, and of the thread that this began. */
interface StepProgress extends StepRequest {
  workspace: string;
  channel: string;
  /** Its question is being posted. */
  isPosting: boolean;
  thread_ts: SlackTs | null;
  thread?: Thread | undefined;
  turn?: Turn | undefined;
  message?: Message | undefined;
}

/** Whether Slack can be told of a step: it asked nothing, its task has begun, or the turn that it waits for has ended. */
function isReady(step: StepProgress): boolean {
  if (step.refusal !== null) return true;
  if (step.thread_ts === null) return !step.isPosting;
  const { thread, turn, message } = step;
  const hasBegun = thread?.task_id != null && !step.waits_for_answer;
  const isUnsent = message?.state === 'refused' || message?.state === 'withdrawn';
  return hasBegun || isUnsent || (turn !== undefined && isOver(turn));
}

/** Why a step has no task; undefined if it has one. Where its turn ended before that, the thread says why. */
function failureOf(step: StepProgress): keyof typeof words | undefined {
  if (step.thread_ts === null) return 'not_posted';
  return taskIdOf(step.turn, step.thread) === null ? 'refused' : undefined;
}

/** How long until a step is looked at again (ms), unless the end of its turn comes first: longer for an older step. */
function pauseMs({ created_at }: Job): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, (Date.now() - created_at.getTime()) / 4));
}
