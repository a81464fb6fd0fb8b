import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { guardedConnections } from '../calls/outbound-proxy.ts';
import type { Presence } from '../calls/shared-calls.ts';
import {
  type AgentCallOptions,
  type AgentClientOptions,
  type AgentTimeouts,
  type CursorPage,
  DEFAULT_TIMEOUTS,
  type GuardedCallOptions,
} from './client-options.ts';
import { AgentNotFoundError } from './errors.ts';
import {
  allResults,
  type ListMessages,
  lastMessage,
  type MessageCursor,
  messagesBackward,
  messagesForward,
  type ResultCursor,
  type ResultList,
  withSmallerPages,
} from './list-pages.ts';
import { lookupWithAllowed, parseServiceUrl, publicLookup } from './network-address.ts';
import {
  finalizeBody,
  type NewFile,
  type NewMessage,
  type NewTask,
  newFileBody,
  newMessageBody,
  newTaskBody,
  type StartedUpload,
  startedUploadSchema,
  type UploadedPart,
} from './request-bodies.ts';
import { OPERATOR_RESPONSE_LIMITS, ResponseReader } from './response-limits.ts';
import { DEFAULT_RETRY_POLICY } from './retries.ts';
import { ServiceHttp } from './service-http.ts';
import { DEFAULT_SERVICE_OPTIONS, type ServiceOptions } from './service-options.ts';
import * as schemas from './service-schema.ts';
import { SignedLinks } from './signed-links.ts';
import { OPERATOR_UPLOAD_MEMORY_BYTES, UploadMemory } from './upload-parts.ts';

const PROJECTS_PATH = '/projects';
const PROJECT_PATH = `${PROJECTS_PATH}/{project_id}`;
const TASKS_PATH = '/experimental/tasks';
const TASK_PATH = `${TASKS_PATH}/{task_id}`;
const MESSAGE_PATH = `${TASK_PATH}/messages/{message_id}`;
const FILES_PATH = '/experimental/files';
const FILE_PATH = `${FILES_PATH}/{file_id}`;

/**
 * The Agent Task Service, one method per endpoint. Methods throw an AgentError, whose `outcome` says whether the call
 * may have taken effect (see errors.ts). Every call but a POST is retried after a transient failure; a POST is retried
 * only where its method says so, or if it creates something and is refused for a conflict.
 */
export class AgentClient {
  readonly serviceOptions: ServiceOptions;
  readonly uploadMemory: UploadMemory;
  readonly #timeouts: AgentTimeouts;
  readonly #responseReader: ResponseReader;
  readonly #http: ServiceHttp;
  readonly #connections: ReturnType<typeof guardedConnections>;
  /** The service's signed links, which are used without the key. */
  readonly links: SignedLinks;

  /** Throws TypeError if the address or the key is invalid. */
  constructor(options: AgentClientOptions) {
    const allowedHosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
    const baseUrl = parseServiceUrl(options.baseUrl, allowedHosts);
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('AGENT_API_KEY must be visible ASCII characters without spaces.');
    }
    this.serviceOptions = options.serviceOptions ?? DEFAULT_SERVICE_OPTIONS;
    this.uploadMemory = options.uploadMemory ?? new UploadMemory(OPERATOR_UPLOAD_MEMORY_BYTES);
    const { responseLimits = OPERATOR_RESPONSE_LIMITS } = options;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.#responseReader = new ResponseReader(responseLimits, options.responseMemory);
    const { lookup = publicLookup } = options;
    const allowing = lookupWithAllowed(allowedHosts, lookup);
    this.#connections = guardedConnections(allowedHosts, allowing, this.#timeouts.connectMs);
    const transport = {
      dispatcher: this.#connections.dispatcher,
      timeouts: this.#timeouts,
      retry: { ...DEFAULT_RETRY_POLICY, ...options.retry },
      serviceOptions: this.serviceOptions,
      log: options.log,
    };
    this.#http = new ServiceHttp({
      ...options,
      ...transport,
      dispatcher: options.dispatcher ?? this.#connections.dispatcher,
      baseUrl,
      responseReader: this.#responseReader,
      apiKey: () => options.apiKey,
    });
    this.links = new SignedLinks({ ...transport, allowedHosts });
  }

  /** Whether the service itself answers, or only a gateway in front of it. */
  get presence(): Presence {
    return this.#http.presence;
  }

  /** Whether a call under the key succeeded after `at` (`performance.now()`). In an outage, a gateway may still refuse keys. */
  hasSucceededAfter(at: number): boolean {
    return this.#http.lastSuccessAt > at;
  }

  /** Closes all connections; calls in progress fail. */
  async close(): Promise<void> {
    await this.#connections.destroy();
  }

  /** Creates a project. After outcome `unknown` there may be a project that nobody can find. */
  async createProject(
    { title, description }: { readonly title: string; readonly description?: string | undefined },
    options: GuardedCallOptions = {},
  ): Promise<schemas.Project> {
    return await this.#create(PROJECTS_PATH, schemas.projectSchema, { title, description }, options);
  }

  /** Changes only the given fields; '' clears one. */
  async updateProject(
    project_id: string,
    fields: { readonly title?: string | undefined; readonly description?: string | undefined },
    options: AgentCallOptions = {},
  ): Promise<void> {
    const { title, description } = fields;
    const details = { ids: { project_id }, body: { title, description }, ...options };
    await this.#http.call('PUT', PROJECT_PATH, schemas.doneSchema, details);
  }

  /** A project, if the service answers with it. No call only reads one: this changes nothing but its time of change. */
  async readProject(project_id: string, options: AgentCallOptions = {}): Promise<schemas.Project | null> {
    const details = { ids: { project_id }, body: {}, ...options };
    return await this.#http.call('PUT', PROJECT_PATH, schemas.readProjectSchema, details);
  }

  /** Throws AgentNotFoundError if the service does not know the project. Reading it would change it: its tasks are listed. */
  async requireProject(projectId: string, signal?: AbortSignal): Promise<void> {
    await this.listTasks(projectId, { limit: 1, signal });
  }

  /** Starts a task. After outcome `unknown`, look for the task in the project's list. */
  async startTask(task: NewTask, options: GuardedCallOptions = {}): Promise<schemas.Task> {
    const body = newTaskBody(task, this.serviceOptions);
    return await this.#create(TASKS_PATH, schemas.taskSchema, body, options);
  }

  /** One page of a project's tasks, newest first; `limit` is 1 to 100. */
  async listTasks(
    projectId: string,
    options: AgentCallOptions & { readonly limit?: number; readonly after?: string | undefined } = {},
  ): Promise<CursorPage<schemas.Task>> {
    const { limit, after, signal } = options;
    const { listTasksProjectParam, cursorParam } = this.serviceOptions;
    const query = { [listTasksProjectParam]: projectId, limit, [cursorParam]: after };
    return await this.#http.list(TASKS_PATH, schemas.taskListSchema, { query, signal });
  }

  /** A task with its reviews. */
  async getTask(task_id: string, options: AgentCallOptions = {}): Promise<schemas.Task> {
    return await this.#http.call('GET', TASK_PATH, schemas.taskSchema, { ids: { task_id }, ...options });
  }

  /** Deletes a task and its messages. If a retry finds the task gone, the deletion has succeeded. */
  async deleteTask(task_id: string, options: AgentCallOptions = {}): Promise<void> {
    try {
      await this.#http.call('DELETE', TASK_PATH, schemas.doneSchema, { ids: { task_id }, ...options });
    } catch (error) {
      if (!(error instanceof AgentNotFoundError && error.attempts > 1)) throw error;
    }
  }

  /** Stops a task at a safe point, or at once with `force`. Never retried: a late call could stop a later message. */
  async cancelTask(
    taskId: string,
    { force, signal }: AgentCallOptions & { readonly force?: boolean } = {},
  ): Promise<void> {
    const details = { ids: { task_id: taskId }, body: force === true ? { force } : undefined, signal };
    await this.#http.call('POST', `${TASK_PATH}/cancel`, schemas.doneSchema, details);
  }

  /** One page of a task's results. `limit` is 1 to 100; the service defaults `reconcile` and `withUrls` to true. */
  async listResults(
    task_id: string,
    options: AgentCallOptions & ResultCursor & { readonly withUrls?: boolean } = {},
  ): Promise<CursorPage<schemas.ResultFile>> {
    const { limit, reconcile, withUrls, after, signal } = options;
    const query = { limit, reconcile, with_urls: withUrls, [this.serviceOptions.cursorParam]: after };
    const details = { ids: { task_id }, query, timeoutMs: this.#timeouts.resultsMs, signal };
    return await this.#http.list(`${TASK_PATH}/results`, schemas.resultListSchema, details);
  }

  /** All results of a task that the service's cursor reaches, inclusive or exclusive; with allowed links only. */
  async allResults(
    taskId: string,
    options: AgentCallOptions & { readonly reconcile?: boolean; readonly withUrls?: boolean } = {},
  ): Promise<ResultList> {
    const list = (cursor: ResultCursor) => this.listResults(taskId, { ...options, ...cursor });
    const all = await allResults(this.#responseReader.withListLimit(list), options.reconcile);
    const withAllowedLink = (result: schemas.ResultFile) => ({
      ...result,
      downloadUrl: this.links.allowed(result.downloadUrl),
    });
    return { ...all, results: all.results.map(withAllowedLink) };
  }

  /** Sends a message; the call may stay open until the reply is complete. Never retried: after `unknown`, look. */
  async sendMessage(
    task_id: string,
    message: NewMessage,
    options: GuardedCallOptions & { readonly timeoutMs?: number } = {},
  ): Promise<schemas.SendResult> {
    return await this.#http.call('POST', this.serviceOptions.sendMessagePath, schemas.sendResultSchema, {
      ids: { task_id },
      body: newMessageBody(message),
      timeoutMs: this.#timeouts.sendMs,
      ...options,
    });
  }

  /** One page of messages, oldest first; the latest page without a cursor. `limit` (1 to 500) counts events. */
  async listMessages(taskId: string, options: MessageCursor = {}): Promise<CursorPage<schemas.Message>> {
    const query = { limit: options.limit, before_id: options.beforeId, after_id: options.afterId };
    const details = { ids: { task_id: taskId }, query, signal: options.signal };
    return await this.#http.list(`${TASK_PATH}/messages`, schemas.messageListSchema, details);
  }

  /**
   * Every message after `afterId`, oldest first, each once; with null, every message of the task. Throws an AgentError if
   * all must be `readable` and one is not.
   */
  messagesAfter(
    taskId: string,
    afterId: string | null,
    options: AgentCallOptions & { readonly limit?: number; readonly readable?: 'all' } = {},
  ): AsyncGenerator<schemas.Message, void, undefined> {
    const list = this.#pageReader(taskId);
    if (afterId === null || this.serviceOptions.messagesAfter === 'backward') {
      return messagesBackward(list, afterId, options);
    }
    return messagesForward(list, afterId, options);
  }

  /** The last message of a task; undefined without any. */
  async lastMessage(taskId: string): Promise<schemas.Message | undefined> {
    return await lastMessage(this.#pageReader(taskId));
  }

  /** The current state of a message. A reply grows, so callers read it repeatedly. */
  async getMessage(
    task_id: string,
    message_id: string,
    options: AgentCallOptions = {},
  ): Promise<schemas.Message> {
    const details = { ids: { task_id, message_id }, ...options };
    return await this.#http.call('GET', MESSAGE_PATH, schemas.messageSchema, details);
  }

  /** Stops the agent while it writes this reply, and cancels its task. Never retried, like `cancelTask`. */
  async cancelMessage(task_id: string, message_id: string, options: AgentCallOptions = {}): Promise<void> {
    const details = { ids: { task_id, message_id }, ...options };
    await this.#http.call('POST', `${MESSAGE_PATH}/cancel`, schemas.doneSchema, details);
  }

  async getFile(file_id: string, options: AgentCallOptions = {}): Promise<schemas.FileRecord> {
    return await this.#http.call('GET', FILE_PATH, schemas.fileSchema, { ids: { file_id }, ...options });
  }

  /** Opens a file's contents. The caller reads `body` to its end or destroys it. */
  async openFileContent(
    file_id: string,
    options: AgentCallOptions = {},
  ): Promise<{ readonly body: Readable }> {
    const details = { ids: { file_id }, ...options };
    return await this.links.openContent(
      () => this.#http.openStream(`${FILE_PATH}/content`, details),
      async () => (await this.getFile(file_id, options)).sizeBytes,
      options.signal,
    );
  }

  /** Starts an upload; `uploadFile` does the whole upload. */
  async startUpload(file: NewFile, options: GuardedCallOptions = {}): Promise<StartedUpload> {
    const body = newFileBody(file, this.serviceOptions);
    return await this.#create(FILES_PATH, startedUploadSchema(this.serviceOptions), body, options);
  }

  /** The upload links of these parts, by part number. Retried. */
  async partUrls(
    file_id: string,
    upload_id: string,
    part_numbers: readonly number[],
    options: AgentCallOptions = {},
  ): Promise<Map<number, string>> {
    const details = { ids: { file_id }, body: { upload_id, part_numbers }, mayRepeat: true, ...options };
    return await this.#http.call('POST', `${FILE_PATH}/parts`, schemas.partUrlsSchema, details);
  }

  /** Finalizes an upload; null without a file in the response. Retried; if that is refused, `getFile` decides. */
  async finalizeUpload(
    file_id: string,
    multipart: { readonly uploadId: string; readonly parts: readonly UploadedPart[] } | null,
    options: AgentCallOptions = {},
  ): Promise<schemas.FileRecord | null> {
    return await this.#http.call('POST', `${FILE_PATH}/finalize`, schemas.fileSchema.nullable().catch(null), {
      ids: { file_id },
      body: finalizeBody(multipart, this.serviceOptions),
      mayRepeat: true,
      timeoutMs: this.#timeouts.finalizeMs,
      ...options,
    });
  }

  async #create<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    body: Readonly<Record<string, unknown>>,
    options: GuardedCallOptions,
  ): Promise<z.output<Schema>> {
    const details = { body, timeoutMs: this.#timeouts.createMs, creates: true, ...options };
    return await this.#http.call('POST', path, schema, details);
  }

  #pageReader(taskId: string): ListMessages {
    const list = (cursor: MessageCursor) => this.listMessages(taskId, cursor);
    return withSmallerPages(this.#responseReader.withListLimit(list));
  }
}
