import { setTimeout as delay } from 'node:timers/promises';
import type { ReviewPlan } from './agent-script.ts';
import type { TurnContext } from './agent-turn.ts';
import type { ReviewRecord, TaskRecord } from './records.ts';

/** Runs a review after a turn. It appears with its findings and replaces earlier reviews unless they are kept. */
export async function runReview(
  { state, pace, behaviour }: TurnContext,
  task: TaskRecord,
  plan: ReviewPlan,
  signal: AbortSignal,
): Promise<void> {
  try {
    await delay((plan.afterMs ?? 0) * pace, undefined, { signal });
    const content = [{ type: 'text', text: plan.findings ?? '' }];
    const more = { review: true, status: 'completed', stopReason: 'stop', completedAt: state.now() } as const;
    const message = plan.findings === undefined ? null : state.addMessage(task, 'assistant', content, more);
    const review: ReviewRecord = { status: 'running', messageId: message?.id ?? null, errorMessage: null };
    const appear = () => {
      const before = behaviour.reviewsKept ? task.reviews.filter((one) => one !== review) : [];
      task.reviews = [...before, review];
    };
    if ((plan.verifyMs ?? 0) > 0) {
      appear();
      await delay((plan.verifyMs ?? 0) * pace, undefined, { signal });
    }
    review.status = plan.status ?? (plan.error === undefined ? 'completed' : 'failed');
    review.errorMessage = plan.error ?? null;
    appear();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
