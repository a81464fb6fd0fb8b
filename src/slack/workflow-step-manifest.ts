import { type AppManifest, mergeManifests } from './app-manifest.ts';

/** The callback id of the step "Ask the agent". */
export const ASK_AGENT_STEP = 'ask_agent';

function parameter(
  name: string,
  title: string,
  description: string,
  { type = 'string', isRequired = false }: { type?: string; isRequired?: boolean } = {},
) {
  return [name, { name, type, title, description, is_required: isRequired }] as const;
}

/** The manifest with the step for Slack's Workflow Builder. Slack accepts steps of organisation-ready apps only. */
export function manifestWithStep(manifest: AppManifest): AppManifest {
  const input_parameters = Object.fromEntries([
    parameter('channel', 'Channel', 'Where the question is posted. The channel must allow workflow steps.', {
      type: 'slack#/types/channel_id',
      isRequired: true,
    }),
    parameter('question', 'Question', 'What the agent should do', { isRequired: true }),
    parameter('label', 'Label', 'What the question is headed with, such as the name of the workflow'),
    parameter('person', 'Person', 'Whom the question names. This gives no rights.', {
      type: 'slack#/types/user_id',
    }),
    parameter('model', 'Model', "standard, fast, max, or another of the service's models"),
    parameter('skill', 'Skill', 'The name or ID of a skill'),
    parameter(
      'wait_for_answer',
      'Wait for the answer',
      'Otherwise, the workflow goes on once the task has begun',
      {
        type: 'boolean',
      },
    ),
  ]);
  const output_parameters = Object.fromEntries([
    parameter(
      'state',
      'State',
      'running, or how the work ended: completed, length, cancelled, failed or refused',
      {
        isRequired: true,
      },
    ),
    parameter('link', 'Link', 'The link of the thread'),
    parameter('task_id', 'Task', "The task's ID at the agent service"),
    parameter('answer', 'Answer', "The beginning of the agent's answer, if the step waits for it"),
  ]);
  const step = {
    title: 'Ask the agent',
    description: 'Posts a question in a channel. The agent answers in its thread.',
    input_parameters,
    output_parameters,
  };
  return mergeManifests(manifest, {
    functions: { [ASK_AGENT_STEP]: step },
    settings: {
      event_subscriptions: { bot_events: ['function_executed'] },
      org_deploy_enabled: true,
      function_runtime: 'remote',
    },
  });
}

/** Whether a manifest offers the step. */
export function hasStep({ functions }: AppManifest): boolean {
  return typeof functions === 'object' && functions !== null && ASK_AGENT_STEP in functions;
}
