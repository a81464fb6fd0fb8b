import { z } from 'zod';
import type { WorkflowStepRun } from '../features/workflow-step.ts';
import { optional, slackId } from '../slack/field-schemas.ts';
import type { Envelope } from './envelope.ts';

const input = optional(z.string().trim());

/** Slack's event for a step of the app (https://docs.slack.dev/reference/events/function_executed). */
const runSchema = z.looseObject({
  type: z.literal('function_executed'),
  function: z.looseObject({ callback_id: z.literal('ask_agent') }),
  function_execution_id: slackId,
  inputs: z
    .looseObject({
      question: input,
      channel: optional(slackId),
      label: input,
      person: optional(slackId),
      model: input,
      skill: input,
      wait_for_answer: z.boolean().catch(false),
    })
    .catch({ wait_for_answer: false }),
});

/** Reads a run of the step "Ask the agent"; undefined for any other event. */
export function parseWorkflowStep({ workspace, event }: Envelope): WorkflowStepRun | undefined {
  const parsed = runSchema.safeParse(event);
  if (!parsed.success) return undefined;
  const { function_execution_id: execution_id, inputs } = parsed.data;
  const { question: text = '', channel = '', label, person, model, skill, wait_for_answer } = inputs;
  const content = {
    text,
    choices: { ...(model && { model }), ...(skill && { skill }) },
    step: { ...(label && { label }), ...(person && { person }) },
  };
  return { workspace, execution_id, channel, waits_for_answer: wait_for_answer, content };
}
