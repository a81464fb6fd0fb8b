import type {
  AgentCallOptions,
  AgentClientOptions,
  CursorPage,
  GuardedCallOptions,
  NewMessage,
  NewTask,
} from './client-options.ts';
import { EndpointCaller } from './endpoint-caller.ts';
import { AgentNotFoundError, AgentResponseError } from './errors.ts';
import { FileCalls } from './file-calls.ts';
import {
  type ListMessages,
  lastMessages,
  messagesBackward,
  messagesForward,
  withSmallerPages,
} from './message-pages.ts';
import { newMessageBody, newTaskBody, nextCursor } from './request-bodies.ts';
import * as wire from './service-schema.ts';

/** Pages that a walk through a list reads at most, against a service that never ends one. */
const MAX_PAGES = 200;

const PROJECTS_PATH = '/projects';
const TASKS_PATH = '/experimental/tasks';
const TASK_PATH = '/experimental/tasks/{task_id}';
const MESSAGE_PATH = '/experimental/tasks/{task_id}/messages/{message_id}';

/** The Agent Task Service, one method per endpoint. Methods throw AgentError (see errors.ts). */
export class AgentClient extends FileCalls {
  /** Throws TypeError where the address or the key cannot be used. */
  constructor(options: AgentClientOptions) {
    super(new EndpointCaller(options));
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    await this.caller.close();
  }

  /** Makes a project; never repeated. After an outcome `unknown` there may be one that nobody can find again. */
  async createProject(
    project: { readonly title: string; readonly description?: string | undefined },
    options: GuardedCallOptions = {},
  ): Promise<wire.Project> {
    const { title, description } = project;
    return await this.caller.create(PROJECTS_PATH, { title, description }, wire.projectSchema, options);
  }

  /** Changes only the fields given; '' clears one. */
  async updateProject(
    projectId: string,
    change: { readonly title?: string | undefined; readonly description?: string | undefined },
    options: AgentCallOptions = {},
  ): Promise<wire.Project> {
    const call = { method: 'PUT', path: `${PROJECTS_PATH}/{project_id}`, repeat: true } as const;
    const body = { title: change.title, description: change.description };
    const sent = { ...call, ids: { project_id: projectId }, body, ...this.caller.defaults(options) };
    return (await this.caller.http.requestJson(sent, wire.projectSchema)).value;
  }

  /** Starts a task; never repeated. After an outcome `unknown`, look for it among the project's tasks. */
  async startTask(task: NewTask, options: GuardedCallOptions = {}): Promise<wire.Task> {
    return await this.caller.create(
      TASKS_PATH,
      newTaskBody(task, this.serviceOptions),
      wire.taskSchema,
      options,
    );
  }

  /** One page of a project's tasks, newest first; `limit` 1 to 100. */
  async listTasks(
    projectId: string,
    options: AgentCallOptions & { readonly limit?: number; readonly after?: string | undefined } = {},
  ): Promise<CursorPage<wire.Task>> {
    const query = {
      [this.serviceOptions.listTasksProjectParam]: projectId,
      limit: options.limit,
      [this.serviceOptions.cursorParam]: options.after,
    };
    const call = {
      method: 'GET',
      path: TASKS_PATH,
      query,
      repeat: true,
      ...this.caller.defaults(options),
    } as const;
    const { value, raw } = await this.caller.http.requestJson(call, wire.listSchema(wire.taskSchema));
    return { ...value, cursor: nextCursor(raw, this.serviceOptions) };
  }

  /** A task with its reviews. */
  async getTask(taskId: string, options: AgentCallOptions = {}): Promise<wire.Task> {
    return await this.caller.get(TASK_PATH, { task_id: taskId }, wire.taskSchema, options);
  }

  /** Deletes a task and its messages. A repeat that finds it gone has succeeded. */
  async deleteTask(taskId: string, options: AgentCallOptions = {}): Promise<{ id: string }> {
    const call = { method: 'DELETE', path: TASK_PATH, ids: { task_id: taskId }, repeat: true } as const;
    try {
      return (
        await this.caller.http.requestJson({ ...call, ...this.caller.defaults(options) }, wire.deletedSchema)
      ).value;
    } catch (error) {
      if (error instanceof AgentNotFoundError && error.attempts > 1) return { id: taskId };
      throw error;
    }
  }

  /**
   * Stops a task; `force` at once, else when the agent has come to a good place. Never repeated: after a lost answer the
   * task may work on another message already.
   */
  async cancelTask(
    taskId: string,
    options: AgentCallOptions & { readonly force?: boolean } = {},
  ): Promise<wire.TaskStatus> {
    const ids = { task_id: taskId };
    return await this.caller.cancel(`${TASK_PATH}/cancel`, ids, { ...options, repeat: false });
  }

  /** One page of a task's results. `limit` 1 to 100; `reconcile` and `withUrls` default to true there. */
  async listResults(
    taskId: string,
    options: AgentCallOptions & {
      readonly limit?: number;
      readonly reconcile?: boolean;
      readonly withUrls?: boolean;
      readonly after?: string | undefined;
    } = {},
  ): Promise<CursorPage<wire.ResultFile> & { readonly bytes: number }> {
    const call = {
      method: 'GET',
      path: `${TASK_PATH}/results`,
      ids: { task_id: taskId },
      query: {
        limit: options.limit,
        reconcile: options.reconcile,
        with_urls: options.withUrls,
        [this.serviceOptions.cursorParam]: options.after,
      },
      repeat: true,
      timeoutMs: this.caller.timeouts.resultsMs,
      signal: options.signal,
    } as const;
    const { value, raw, bytes } = await this.caller.http.requestJson(
      call,
      wire.listSchema(wire.resultFileSchema),
    );
    return { ...value, cursor: nextCursor(raw, this.serviceOptions), bytes };
  }

  /** All results of a task, each once, however the service takes the cursor. */
  async allResults(
    taskId: string,
    options: AgentCallOptions & { readonly reconcile?: boolean; readonly withUrls?: boolean } = {},
  ): Promise<wire.ResultFile[]> {
    const found = new Map<string, wire.ResultFile>();
    const within = this.#listSizeCheck();
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      // Only the first page asks the service to look for files written just now.
      const reconcile = page === 0 ? options.reconcile : false;
      const asked = { ...options, limit: 100, after, ...(reconcile === undefined ? {} : { reconcile }) };
      const { items, hasMore, cursor, bytes } = await this.listResults(taskId, asked);
      within(bytes);
      const before = found.size;
      for (const item of items) if (!found.has(item.id)) found.set(item.id, item);
      if (!hasMore || cursor === null || found.size === before) break;
      after = cursor;
    }
    return [...found.values()];
  }

  /**
   * Sends a message. The service may hold the call open until the reply is complete, `holdMs` at most; it is
   * never repeated. After an outcome `unknown`, look for the message before sending it again.
   */
  async sendMessage(
    taskId: string,
    message: NewMessage,
    options: GuardedCallOptions & { readonly holdMs?: number } = {},
  ): Promise<wire.SendResult> {
    const call = {
      method: 'POST',
      path: this.serviceOptions.sendMessagePath,
      ids: { task_id: taskId },
      body: newMessageBody(message, this.serviceOptions),
      repeat: false,
      timeoutMs: options.holdMs ?? this.caller.timeouts.holdMs,
      guard: options.guard,
      signal: options.signal,
    } as const;
    return (await this.caller.http.requestJson(call, wire.sendResultSchema)).value;
  }

  /** One page of messages, oldest first; without a cursor the latest stretch. `limit` (1 to 500) counts events. */
  async listMessages(
    taskId: string,
    options: AgentCallOptions & {
      readonly limit?: number | undefined;
      readonly beforeId?: string | undefined;
      readonly afterId?: string | undefined;
    } = {},
  ): Promise<wire.Page<wire.Message> & { readonly bytes: number }> {
    const query = { limit: options.limit, before_id: options.beforeId, after_id: options.afterId };
    const call = { method: 'GET', path: `${TASK_PATH}/messages`, query, repeat: true } as const;
    const sent = { ...call, ids: { task_id: taskId }, ...this.caller.defaults(options) };
    const { value, bytes } = await this.caller.http.requestJson(sent, wire.listSchema(wire.messageSchema));
    return { ...value, bytes };
  }

  /** Every message after `afterId`, oldest first, each once; with null every message of the task. */
  messagesAfter(
    taskId: string,
    afterId: string | null,
    options: AgentCallOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<wire.Message, void, undefined> {
    const list = this.#pageReader(taskId);
    if (afterId === null || this.serviceOptions.messagesAfter === 'backward') {
      return messagesBackward(list, afterId, options);
    }
    return messagesForward(list, afterId, options);
  }

  /** The last `count` messages of a task, oldest first. */
  async lastMessages(taskId: string, count: number, options: AgentCallOptions = {}): Promise<wire.Message[]> {
    return await lastMessages(this.#pageReader(taskId), count, options);
  }

  /** A message as it is now: a reply is read so again and again while it grows. */
  async getMessage(taskId: string, messageId: string, options: AgentCallOptions = {}): Promise<wire.Message> {
    return await this.caller.get(
      MESSAGE_PATH,
      { task_id: taskId, message_id: messageId },
      wire.messageSchema,
      options,
    );
  }

  /** Stops the agent while it writes this reply; its task is cancelled. */
  async cancelMessage(
    taskId: string,
    messageId: string,
    options: AgentCallOptions & { readonly force?: boolean } = {},
  ): Promise<wire.MessageStatus> {
    return await this.caller.cancel(
      `${MESSAGE_PATH}/cancel`,
      { task_id: taskId, message_id: messageId },
      { ...options, repeat: true },
    );
  }

  /** Reads the pages of one walk through a task's messages. */
  #pageReader(taskId: string): ListMessages {
    const within = this.#listSizeCheck();
    return withSmallerPages(async (cursor) => {
      const page = await this.listMessages(taskId, cursor);
      within(page.bytes);
      return page;
    });
  }

  /** Counts the pages of a list; the answer throws AgentAnswerError where they are larger than is read. */
  #listSizeCheck(): (bytes: number) => void {
    let sum = 0;
    return (bytes) => {
      sum += bytes;
      if (sum <= this.caller.responseReader.limits.maxListBytes) return;
      const sentence = "A list of the agent service's is larger than is read.";
      throw new AgentResponseError({ sentence, outcome: 'refused' });
    };
  }
}
