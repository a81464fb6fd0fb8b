import type { DriftCase } from './drift-cases.ts';

/** The fields without which a response, or an item of a list, cannot be read. Any other may be missing or odd. */
export const ESSENTIAL_FIELDS: Readonly<Record<string, readonly string[]>> = {
  project: ['id'],
  task: ['id'],
  message: ['id', 'role', 'content'],
  'block of text': ['text'],
  file: ['id'],
  result: ['result_id'],
  list: ['data'],
  'part links': ['part_urls'],
};
/** Without a field of these, the file of a person is left out; the answer still comes. */
export const ATTACHMENT_RESPONSES: readonly string[] = ['file', 'part links'];

/** The calls that a message needs: where one is refused, the thread says that the message was not sent. */
export const SENDING_CALLS: readonly string[] = [
  'POST /projects',
  'POST /experimental/tasks',
  'POST /experimental/tasks/{task_id}/messages',
];

/** What each call's response is, by its name among the essential fields; of a list, what it holds. */
const RESPONSES: Readonly<Record<string, { is?: string; holds?: string }>> = {
  'POST /projects': { is: 'project' },
  'POST /experimental/tasks': { is: 'task' },
  'GET /experimental/tasks': { is: 'list', holds: 'task' },
  'GET /experimental/tasks/{task_id}': { is: 'task' },
  'GET /experimental/tasks/{task_id}/messages': { is: 'list', holds: 'message' },
  'GET /experimental/tasks/{task_id}/messages/{message_id}': { is: 'message' },
  'GET /experimental/tasks/{task_id}/results': { is: 'list', holds: 'result' },
  'POST /experimental/files': { is: 'file' },
  'GET /experimental/files/{file_id}': { is: 'file' },
  'POST /experimental/files/{file_id}/finalize': { is: 'file' },
  'POST /experimental/files/{file_id}/parts': { is: 'part links' },
};
/** What stands in this field of a response. */
const PARTS: readonly (readonly [field: RegExp, name: string])[] = [
  [/(?:^|\.)content\.\[\]$/, 'block of text'],
  [/(?:^|\.)(?:user|assistant)_message$/, 'message'],
  [/(?:^|\.)task$/, 'task'],
];

/** The fields without which an answer or its results may be missing, each after what it is a field of. */
export const ANSWER_FIELDS: readonly string[] = Object.entries(ESSENTIAL_FIELDS).flatMap(([name, fields]) =>
  ATTACHMENT_RESPONSES.includes(name) ? [] : fields.map((field) => `${name}.${field}`),
);

/** The field that a case changes, after what it is a field of; its call where it changes none that is known. */
export function fieldOf({ call, field, drift }: DriftCase): string {
  if (drift.kind === 'answer') return `${call}.${field}`;
  const at = field.lastIndexOf('.');
  const parent = field.slice(0, Math.max(at, 0));
  const { is, holds } = RESPONSES[call] ?? {};
  const known = parent === '' ? is : parent === 'data.[]' ? holds : undefined;
  const name = known ?? PARTS.find(([pattern]) => pattern.test(parent))?.[1] ?? call;
  return `${name}.${field.slice(at + 1)}`;
}

/** Whether the answer or its results may be missing: without an essential field, or where the message itself is refused. */
export function mayMissAnswer(drifted: DriftCase): boolean {
  const { call, drift } = drifted;
  if (drift.kind === 'field') return ANSWER_FIELDS.includes(fieldOf(drifted));
  return SENDING_CALLS.includes(call) && drift.status >= 400 && drift.status < 500;
}
