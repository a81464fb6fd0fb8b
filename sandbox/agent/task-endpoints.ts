import { z } from 'zod';
import type { Endpoint, EndpointContext, EndpointRequest, EndpointResponse } from './endpoint.ts';
import type { MessageRecord, ResultRecord, TaskRecord } from './records.ts';
import { blocksOf, content, pageAfter, readBody, readFlag, readLimit, readText } from './request-input.ts';
import { listJson, projectJson, resultJson, taskJson, taskWithReviewsJson } from './response-json.ts';
import { invalid, ServiceRefusal } from './service-refusal.ts';

export const model = z.enum(['standard', 'fast', 'max']);
const firstMessage = z.object({ role: z.enum(['user', 'assistant', 'system']), content });
const creation = z.object({
  project_id: z.string(),
  title: z.string().min(1).max(500),
  model: model.optional(),
  auto_mode: z.boolean().optional(),
  plan_mode: z.boolean().optional(),
  disable_fallback: z.boolean().optional(),
  initial_messages: z.array(firstMessage).max(20).optional(),
});
/** Of List tasks and List task results. */
const DEFAULT_LIMIT = 20;
const cancellation = z.object({ force: z.boolean().optional() });

export function taskEndpoints(context: EndpointContext): Endpoint[] {
  const { state, behaviour } = context;
  const find = (call: EndpointRequest): TaskRecord => state.task(call.customer, call.params.task_id ?? '');
  return [
    { name: 'POST /experimental/tasks', handle: (call) => startTask(context, call) },
    { name: 'GET /experimental/tasks', handle: (call) => listTasks(context, call) },
    {
      name: 'GET /experimental/tasks/{task_id}',
      handle: (call) => {
        const task = find(call);
        const isLate = task.messages.some(
          (message) => message.role === 'assistant' && !isShown(context, message),
        );
        const body = taskWithReviewsJson(isLate ? { ...task, status: 'completed' } : task);
        return { status: 200, body };
      },
    },
    {
      name: 'DELETE /experimental/tasks/{task_id}',
      handle: (call) => {
        const task = find(call);
        state.tasks.delete(task.id);
        context.dismiss(task);
        return { status: 200, body: { type: 'task_deleted', id: task.id } };
      },
    },
    {
      name: 'POST /experimental/tasks/{task_id}/cancel',
      handle: (call) => {
        const task = find(call);
        const { force } = readBody(cancellation, call.body ?? {}, behaviour);
        cancelTask(context, task, force ?? false);
        return { status: 200, body: { type: 'task_status', id: task.id, status: task.status } };
      },
    },
    {
      name: 'GET /experimental/tasks/{task_id}/results',
      handle: (call) => listResults(context, call, find(call)),
    },
  ];
}

/** Whether reads show a message: a reply is late by the behaviour's lag. */
export function isShown({ state, behaviour }: EndpointContext, { role, createdAt }: MessageRecord): boolean {
  return role !== 'assistant' || state.now() - createdAt >= behaviour.startLagMs;
}

/** Stops the agent on a task. @throws ServiceRefusal 409 if nothing is running and the behaviour demands it */
export function cancelTask({ runner, behaviour }: EndpointContext, task: TaskRecord, force: boolean): void {
  const stopped = runner(task).cancel(force);
  if (!stopped && behaviour.cancelSettled === 409)
    throw new ServiceRefusal(409, `The task is ${task.status}`);
}

function startTask(
  { state, behaviour, runner }: EndpointContext,
  { customer, body }: EndpointRequest,
): EndpointResponse {
  const fields = readBody(creation, body, behaviour);
  const { title, initial_messages: messages = [] } = fields;
  const project = state.project(customer, fields.project_id);
  const last = messages.at(-1);
  if (last !== undefined && last.role !== 'user') {
    throw invalid(['body', 'initial_messages'], 'The last message must be of role user');
  }
  const task = state.addTask(project, title, fields.model ?? 'standard');
  task.plansFirst = fields.plan_mode === true;
  for (const { role, content } of messages.slice(0, -1)) {
    const settled = { status: 'completed', stopReason: 'stop', completedAt: state.now() } as const;
    state.addMessage(task, role, blocksOf(content), role === 'assistant' ? settled : {});
  }
  if (last !== undefined) {
    runner(task).deliver({ content: blocksOf(last.content), files: [], skill: null });
  }
  return { status: 201, body: taskJson(task) };
}

function listTasks(
  { state, behaviour }: EndpointContext,
  { customer, query }: EndpointRequest,
): EndpointResponse {
  const limit = readLimit(query, 100, DEFAULT_LIMIT);
  const projectId = readText(query, behaviour.projectParameter);
  if (projectId === undefined) throw invalid(['query', behaviour.projectParameter], 'Field required');
  const project = state.project(customer, projectId);
  const tasks = [...state.tasks.values()].filter((task) => task.project === project).reverse();
  const after = behaviour.listCursors ? readText(query, 'after_id') : undefined;
  const { page, more } = pageAfter(tasks, ({ id }) => id, after, limit);
  const ids = page.map(({ id }) => id);
  return { status: 200, body: listJson(page.map(taskJson), ids, more) };
}

async function listResults(
  { storage, behaviour }: EndpointContext,
  { query }: EndpointRequest,
  task: TaskRecord,
): Promise<EndpointResponse> {
  const limit = readLimit(query, 100, DEFAULT_LIMIT);
  const withUrls = readFlag(query, 'with_urls', true);
  if (readFlag(query, 'reconcile', true)) for (const result of task.results) result.reconciled = true;
  const known = task.results.filter(({ reconciled }) => reconciled);
  const after = behaviour.listCursors ? readText(query, 'after_id') : undefined;
  const { page, more } = pageAfter(known, ({ id }) => id, after, limit);
  const link = ({ file }: ResultRecord): Promise<string> => {
    const { key, name, mime } = file;
    return storage.downloadLink(key, { name, mime, lifeMs: behaviour.downloadLinkMs });
  };
  const data = await Promise.all(
    page.map(async (result) => resultJson(result, withUrls ? await link(result) : undefined)),
  );
  const ids = page.map(({ id }) => id);
  return { status: 200, body: listJson(data, ids, more) };
}

const projectCreation = z.object({
  title: z.string().min(1).max(500),
  description: z.string().max(10_000).optional(),
});
const projectChange = z.object({
  title: z.string().max(500).optional(),
  description: z.string().max(10_000).optional(),
});

export function projectEndpoints({ state, behaviour }: EndpointContext): Endpoint[] {
  return [
    {
      name: 'POST /projects',
      handle: ({ customer, body }) => {
        const { title, description } = readBody(projectCreation, body, behaviour);
        return { status: 200, body: projectJson(state.addProject(customer, title, description ?? '')) };
      },
    },
    {
      name: 'PUT /projects/{project_id}',
      handle: ({ customer, params, body }) => {
        const project = state.project(customer, params.project_id ?? '');
        const { title, description } = readBody(projectChange, body, behaviour);
        project.title = title ?? project.title;
        project.description = description ?? project.description;
        project.updatedAt = Math.max(state.now(), project.updatedAt + 1);
        return { status: 200, body: projectJson(project) };
      },
    },
  ];
}
