import { z } from 'zod';
import type { Endpoint, EndpointContext, EndpointRequest, EndpointResponse } from './endpoint.ts';
import { isReadable } from './file-endpoints.ts';
import type { FileRecord, MessageRecord, TaskRecord } from './records.ts';
import { blocksOf, content, readBody, readLimit, readText } from './request-input.ts';
import { listJson, messageJson, taskJson } from './response-json.ts';
import { notFound, ServiceRefusal } from './service-refusal.ts';
import { cancelTask, isShown, model } from './task-endpoints.ts';

const sending = z.object({
  content,
  file_ids: z.array(z.string()).optional(),
  skill: z.string().nullable().optional(),
  model: model.optional(),
});
const cancellation = z.object({ force: z.boolean().optional() });

export function messageEndpoints(context: EndpointContext): Endpoint[] {
  const { state, behaviour } = context;
  const find = (call: EndpointRequest): TaskRecord => state.task(call.customer, call.params.task_id ?? '');
  const prefix = '/experimental/tasks/{task_id}/messages';
  return [
    { name: `POST ${prefix}`, handle: (call) => sendMessage(context, call, find(call)) },
    { name: `GET ${prefix}`, handle: (call) => listMessages(context, call, find(call)) },
    {
      name: `GET ${prefix}/{message_id}`,
      handle: (call) => {
        const message = state.message(find(call), call.params.message_id ?? '');
        return { status: 200, body: messageJson(message, behaviour) };
      },
    },
    {
      name: `POST ${prefix}/{message_id}/cancel`,
      handle: (call) => {
        const task = find(call);
        const message = state.message(task, call.params.message_id ?? '');
        const { force } = readBody(cancellation, call.body ?? {}, behaviour);
        if (message.role !== 'assistant') throw new ServiceRefusal(409, 'Only a reply can be cancelled');
        cancelTask(context, task, force ?? false);
        return { status: 200, body: { type: 'message_status', id: message.id, status: message.status } };
      },
    },
  ];
}

async function sendMessage(
  context: EndpointContext,
  { body }: EndpointRequest,
  task: TaskRecord,
): Promise<EndpointResponse> {
  const { state, behaviour, skills } = context;
  const fields = readBody(sending, body, behaviour);
  const skill = skills.find(({ id, name }) => id === fields.skill || name === fields.skill);
  if (skill === undefined && typeof fields.skill === 'string') throw notFound('Skill', fields.skill);
  const files = await readableFiles(context, task, fields.file_ids ?? []);
  const runner = context.runner(task);
  if (!state.tasks.has(task.id)) throw notFound('Task', task.id);
  if (task.status === 'running' && !runner.isAsking && behaviour.messageToRunning !== 'accepted') {
    throw new ServiceRefusal(behaviour.messageToRunning, 'The task is running');
  }
  const stopped = task.status === 'failed' || task.status === 'cancelled';
  if (stopped && behaviour.messageToStopped !== 'accepted') {
    throw new ServiceRefusal(behaviour.messageToStopped, `The task is ${task.status}`);
  }
  const { user, reply } = runner.deliver({
    content: blocksOf(fields.content),
    files,
    skill: behaviour.skillOnTask === 'runs' ? (skill?.id ?? null) : null,
  });
  if (behaviour.send === 'held') await state.settled(reply);
  const hidesReply = behaviour.send === 'at-once-without-reply' || !isShown(context, reply);
  return {
    status: 200,
    body: {
      type: 'message_result',
      task: taskJson(task),
      user_message: messageJson(user, behaviour),
      assistant_message: hidesReply ? null : messageJson(reply, behaviour),
      raw: null,
    },
  };
}

/** The attachments that the agent can read; the others are skipped. */
async function readableFiles(
  context: EndpointContext,
  task: TaskRecord,
  ids: string[],
): Promise<FileRecord[]> {
  const found: FileRecord[] = [];
  for (const id of new Set(ids)) {
    const file = context.state.files.get(id);
    if (file === undefined || file.project !== task.project) continue;
    if (await isReadable(context, file)) found.push(file);
  }
  return found;
}

/** The number of events of a message, which the `limit` of List messages counts: its start and every block. */
function eventsOf(message: MessageRecord): number {
  return 1 + message.content.length;
}

function listMessages(
  context: EndpointContext,
  { query }: EndpointRequest,
  task: TaskRecord,
): EndpointResponse {
  const { behaviour } = context;
  const limit = readLimit(query, 500, 200);
  const all = task.messages.filter((message) => isShown(context, message) && !message.review);
  const place = (name: string): number | undefined => {
    const id = readText(query, name);
    if (id === undefined) return undefined;
    const at = all.findIndex((message) => message.id === id);
    if (at === -1) throw notFound('Message', id);
    return at;
  };
  const before = place('before_id');
  const after = behaviour.messageCursors === 'ignored' ? undefined : place('after_id');
  const shift = behaviour.messageCursors === 'inclusive' ? 1 : 0;
  const from = after === undefined ? 0 : after + 1 - shift;
  const range = all.slice(from, before === undefined ? undefined : before + shift);
  // With `after_id` the page starts there; otherwise it holds the latest messages.
  const page =
    after === undefined ? withinEvents(range.toReversed(), limit).reverse() : withinEvents(range, limit);
  const ids = page.map(({ id }) => id);
  const data = page.map((message) => messageJson(message, behaviour));
  return { status: 200, body: listJson(data, ids, page.length < range.length) };
}

/** The first messages whose events fit within the limit; at least one. */
function withinEvents(messages: readonly MessageRecord[], limit: number): MessageRecord[] {
  let events = 0;
  const end = messages.findIndex((message, index) => {
    events += eventsOf(message);
    return index > 0 && events > limit;
  });
  return messages.slice(0, end === -1 ? undefined : end);
}
