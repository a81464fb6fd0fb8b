import { request } from 'undici';
import { afterEach } from 'vitest';
import { z } from 'zod';
import type { AgentService, AgentServiceOptions } from '../../sandbox/agent/agent-service.ts';
import { startAgentService } from '../../sandbox/agent/agent-service.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

const entity = z.looseObject({ id: z.string() });
const message = z.looseObject({
  id: z.string(),
  role: z.string(),
  status: z.string().nullable(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
});
const sent = z.object({ user_message: message, assistant_message: message.nullable() });
const list = z.looseObject({ data: z.array(message), has_more: z.boolean() });
const upload = z.looseObject({
  id: z.string(),
  upload_id: z.string().optional(),
  upload_url: z.string().optional(),
});
const links = z.object({ part_urls: z.record(z.string(), z.string()) });
const results = z.looseObject({
  data: z.array(
    z.looseObject({ result_id: z.string(), name: z.string(), download_url: z.string().optional() }),
  ),
});

export type Message = z.infer<typeof message>;

/** Speaks to the service over HTTP, as a test does. */
export class TestClient {
  readonly service: AgentService;
  readonly key: string;

  constructor(service: AgentService, key = service.apiKey) {
    this.service = service;
    this.key = key;
  }

  async call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.key}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await request(`${this.service.url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: parsed(await answer.body.text()) };
  }

  async project(title = 'Assays'): Promise<string> {
    return entity.parse((await this.call('POST', '/projects', { title })).body).id;
  }

  async task(projectId: string, more: object = {}): Promise<string> {
    const body = { project_id: projectId, title: 'A thread', ...more };
    return entity.parse((await this.call('POST', '/experimental/tasks', body)).body).id;
  }

  /** A task in a project of its own. */
  async newTask(): Promise<string> {
    return this.task(await this.project());
  }

  async send(taskId: string, content: unknown, more: object = {}) {
    const path = `/experimental/tasks/${taskId}/messages`;
    return sent.parse((await this.call('POST', path, { content, ...more })).body);
  }

  async messages(taskId: string, query = '') {
    return list.parse((await this.call('GET', `/experimental/tasks/${taskId}/messages${query}`)).body);
  }

  async message(taskId: string, id: string): Promise<Message> {
    return message.parse((await this.call('GET', `/experimental/tasks/${taskId}/messages/${id}`)).body);
  }

  async results(taskId: string, query = '') {
    return results.parse((await this.call('GET', `/experimental/tasks/${taskId}/results${query}`)).body);
  }

  async startUpload(projectId: string, filename: string, size: number, mime = 'text/csv') {
    const body = { project_id: projectId, filename, size_bytes: size, mime_type: mime };
    return upload.parse((await this.call('POST', '/experimental/files', body)).body);
  }

  async partLinks(fileId: string, uploadId: string | undefined, numbers: number[]) {
    const body = { upload_id: uploadId, part_numbers: numbers };
    return links.parse((await this.call('POST', `/experimental/files/${fileId}/parts`, body)).body).part_urls;
  }

  /** Uploads a small file in one piece; gives its id. */
  async upload(projectId: string, filename: string, text: string, mime = 'text/csv'): Promise<string> {
    const { id, upload_url } = await this.startUpload(projectId, filename, Buffer.byteLength(text), mime);
    await put(upload_url, text);
    await this.call('POST', `/experimental/files/${id}/finalize`, {});
    return id;
  }

  async status(taskId: string): Promise<unknown> {
    const { body } = await this.call('GET', `/experimental/tasks/${taskId}`);
    return z.looseObject({ status: z.string() }).parse(body).status;
  }
}

/** PUT over a signed link, without any credential. */
export async function put(
  url: string | undefined,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; etag: string }> {
  const answer = await request(url ?? '', { method: 'PUT', body, headers });
  await answer.body.dump();
  return { status: answer.statusCode, etag: String(answer.headers.etag) };
}

export async function get(url: string | undefined, headers: Record<string, string> = {}) {
  const answer = await request(url ?? '', { headers });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.from(await answer.body.bytes()),
  };
}

/** All text of a message. */
export function textOf({ content }: Message): string {
  return content.map(({ text }) => text ?? '').join('');
}

/** Resolves when the task or message takes the status. */
export function reached(service: AgentService, id: string, status: string): Promise<void> {
  const messages = service.tasks.flatMap((task) => [task, ...task.messages]);
  if (messages.some((known) => known.id === id && known.status === status)) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = service.onStatus((change) => {
      const about = change.kind === 'task' ? change.task.id : change.message.id;
      if (about !== id || change.status !== status) return;
      stop();
      resolve();
    });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Starts services for the tests of a file and stops them after each. */
export function services(): (options?: AgentServiceOptions) => Promise<TestClient> {
  const started: AgentService[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((service) => service.stop()));
  });
  return async (options = {}) => {
    const service = await startAgentService({ pace: 0.005, ...options });
    started.push(service);
    return new TestClient(service);
  };
}
