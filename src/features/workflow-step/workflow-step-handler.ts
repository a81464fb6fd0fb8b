import { randomUUID } from 'node:crypto';
import { AgentError } from '../../agent/errors.ts';
import { accessPolicyFor } from '../../relay/access/access-policy.ts';
import { quotasOf } from '../../relay/access/turn-quotas.ts';
import { toReplyBlock } from '../../relay/replies/reply-blocks.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { WORKFLOW_STEP } from '../../relay/runtime/incoming-message.ts';
import { Poller } from '../../relay/runtime/poller.ts';
import { allSettledOrThrow, isOverdue, transientFailure } from '../../relay/runtime/retry.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import { answerText } from '../../render/messages/answer-text.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';
import { PayloadRefusedError, SlackError } from '../../slack/errors.ts';
import type { MessageContent, TaskStart, WorkflowStep, WorkflowStepRefusal } from '../../store/schema.ts';
import type { DueStep } from '../../store/tasks/workflow-steps.ts';

const words = strings.workflowStep.failed;
/** The most steps that are completed at a time. */
const MAX_CONCURRENT_STEPS = 20;
/** Slack publishes no limit for an output; its texts have at most 3,000 characters elsewhere. */
const MAX_ANSWER_CHARACTERS = 3_000;
/** A step whose answer the service does not give for this long (ms) completes without it. */
const MAX_ANSWER_WAIT_MS = 60 * 60_000;

/** A step that Slack runs; its channel is '' where the workflow gives none that can be used. */
export interface WorkflowStepRun
  extends Pick<WorkflowStep, 'workspace' | 'execution_id' | 'channel' | 'waits_for_answer'> {
  /** The question and what the step says of itself; the person whom it names gets no rights. */
  content: MessageContent;
}

/** The step "Ask the agent" of Slack's workflows: it starts one task for each run, and is completed once. */
export class WorkflowStepHandler extends Poller {
  readonly #deps: RelayDeps;
  readonly #postQuestion: (start: TaskStart) => void;

  /** `postQuestion` posts a question that this process has claimed; its thread starts the task. */
  constructor(deps: RelayDeps, postQuestion: (start: TaskStart) => void) {
    super({
      poll: () => this.#completeDue(),
      onError: (error) => deps.log.warn({ err: error }, 'could not complete steps of workflows; will retry'),
    });
    this.#deps = deps;
    this.#postQuestion = postQuestion;
  }

  /** Records a run and its start in one transaction; a repeated one does nothing. Throws a StoreError. */
  async accept(run: WorkflowStepRun): Promise<void> {
    const { content, ...step } = run;
    const { workspace, channel } = step;
    const refusal = await this.#refusalOf(run);
    const id = randomUUID();
    const start = await this.#deps.store.transaction(async ({ workflowSteps, taskStarts, audit }) => {
      if (!(await workflowSteps.add({ ...step, start_id: id, refusal }))) return undefined;
      if (refusal === null)
        return taskStarts.claimForPosting({ workspace, id, user_id: WORKFLOW_STEP, channel, content });
      const details = { control: 'workflow_step', why: refusal };
      await audit.add({ workspace, channel, user_id: WORKFLOW_STEP, kind: 'refusal', details });
      return undefined;
    });
    this.#deps.log.info({ ...step, refusal }, 'a step of a workflow runs');
    if (start !== undefined) this.#postQuestion(start);
  }

  async #refusalOf({ workspace, channel, content }: WorkflowStepRun): Promise<WorkflowStepRefusal | null> {
    if (channel === '' || !/\S/.test(content.text)) return 'invalid';
    const { bots } = await accessPolicyFor(this.#deps, { workspace, channel });
    if (!bots.includes(WORKFLOW_STEP)) return 'not_allowed';
    const { store, settings } = this.#deps;
    const quotas = quotasOf(WORKFLOW_STEP, settings.quotas);
    return (await store.turnUsage.exceeded(workspace, WORKFLOW_STEP, quotas)) === undefined ? null : 'limit';
  }

  /** Completes the steps that have come so far, also those of a process that has crashed. */
  async #completeDue(): Promise<void> {
    const due = await this.#deps.store.workflowSteps.claimDue(MAX_CONCURRENT_STEPS);
    if (this.signal.aborted) return;
    await allSettledOrThrow(due.map((step) => this.#complete(step)));
  }

  /** Completes a step in Slack, then records it: repeated after a crash, Slack says that it was completed. */
  async #complete(step: DueStep): Promise<void> {
    const { store, log } = this.#deps;
    const executions = this.#deps.workspace(step.workspace)?.workflowExecutions;
    if (executions === undefined) return;
    const { execution_id: id, workspace } = step;
    const { signal } = this;
    try {
      const failure = failureOf(step);
      const outcome =
        failure === undefined ? { outputs: await this.#outputsOf(step) } : { error: words[failure] };
      await executions.complete(id, outcome, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ workspace, execution_id: id, err: error }, 'could not complete a step of a workflow');
      // It is due again once the claim has ended.
      if (!(error instanceof SlackError) || transientFailure(error) !== undefined) return;
      if (error instanceof PayloadRefusedError)
        await executions.complete(id, { error: words.outputs }, signal);
    }
    await store.workflowSteps.markCompleted(step);
  }

  async #outputsOf(step: DueStep): Promise<Record<string, string>> {
    const { task_id, outcome } = step;
    const link = await this.#linkOf(step);
    const answer = step.waits_for_answer ? await this.#answerOf(step) : undefined;
    return {
      state: outcome ?? 'running',
      ...(link !== undefined && { link }),
      ...(task_id !== null && { task_id }),
      ...(answer !== undefined && { answer }),
    };
  }

  /** The thread's link; undefined if its post was deleted, or the bot can no longer see it. */
  async #linkOf({ workspace, channel, thread_ts: ts }: DueStep): Promise<string | undefined> {
    try {
      return ts === null
        ? undefined
        : await this.#deps.workspace(workspace)?.posting.getPermalink({ channel, ts });
    } catch (error) {
      if (!(error instanceof SlackError) || transientFailure(error) !== undefined) throw error;
      return undefined;
    }
  }

  /** The answer as Markdown that notifies nobody; undefined if there is none. Throws transient failures of the service. */
  async #answerOf(step: DueStep): Promise<string | undefined> {
    const { task_id, account_id, assistant_message_id, finished_at } = step;
    if (task_id === null || account_id === null || assistant_message_id === null) return undefined;
    try {
      const { signal } = this;
      const message = await this.#deps
        .agent(account_id)
        .getMessage(task_id, assistant_message_id, { signal });
      const text = answerText(message.content.map(toReplyBlock));
      return neutralizePings(shorten(text, MAX_ANSWER_CHARACTERS));
    } catch (error) {
      const isLate = finished_at !== null && isOverdue(finished_at, MAX_ANSWER_WAIT_MS);
      if (!(error instanceof AgentError) || (transientFailure(error) !== undefined && !isLate)) throw error;
      return undefined;
    }
  }
}

/** Why a step has failed; undefined if its task has begun. */
function failureOf({ refusal, thread_ts, task_id, outcome }: DueStep): keyof typeof words | undefined {
  if (refusal !== null) return refusal;
  if (thread_ts === null) return 'not_posted';
  return task_id === null && outcome === null ? 'refused' : undefined;
}
