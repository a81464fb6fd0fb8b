import { randomUUID } from 'node:crypto';
import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { FileRecord } from '../../agent/service-schema.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { taskRefusal } from '../../relay/tasks/task-access.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import { withExactSize } from '../../slack/exact-bytes.ts';

/** A person wants a file back that went along with a task's messages. */
export interface TaskFileRequest {
  workspace: string;
  person: string;
  channel: string;
  root: string;
  /** The service's id. */
  fileId: string;
}

/** Brings files of tasks back to people: streamed from the service into their direct messages, never held. */
export class TaskFileDelivery {
  readonly #deps: RelayDeps;
  /** Files on their way, by file and person. */
  readonly #inProgress = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /**
   * Brings a file, and says what comes of it by `show`, which answers whether anybody sees it: who does not is told
   * directly of a failure. One that is on its way to this person already is brought once. Throws where the store is away.
   */
  async deliver(
    request: TaskFileRequest,
    showInModal: (sentence: string) => Promise<boolean>,
  ): Promise<void> {
    const key = deliveryKey(request);
    if (this.#inProgress.has(key)) return;
    const delivery = this.#deliverAndReport(request, showInModal).finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, delivery);
    await delivery;
  }

  /** Breaks off what is on its way; whoever waits for it is told. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#inProgress.values());
  }

  async #deliverAndReport(
    request: TaskFileRequest,
    showInModal: (sentence: string) => Promise<boolean>,
  ): Promise<void> {
    const shown = (sentence: string) =>
      showInModal(sentence).catch((error: unknown) => {
        this.#deps.log.warn(
          { err: error, file: request.fileId },
          'it could not be shown what comes of a file',
        );
        return false;
      });
    const [failure] = await Promise.all([this.#sendFile(request), shown(strings.tasks.fileOnTheWay)]);
    const isSeen = await shown(failure ?? strings.tasks.fileSent);
    if (!isSeen && failure !== undefined) await this.#sendDirectMessage(request, failure);
  }

  /** Tells a person in their direct messages, where the modal is closed that would say it. Throws a SlackError. */
  async #sendDirectMessage({ workspace, person }: TaskFileRequest, sentence: string): Promise<void> {
    const posting = this.#deps.workspace(workspace)?.posting;
    if (posting === undefined) return;
    const channel = await posting.openDm(person);
    await posting.post({ channel, message: { text: sentence }, key: randomUUID(), kind: 'notice' });
  }

  /** A sentence on what went wrong, if something did. */
  async #sendFile(request: TaskFileRequest): Promise<string | undefined> {
    const { store, log } = this.#deps;
    const workspace = this.#deps.workspace(request.workspace);
    if (workspace === undefined) return strings.tasks.notFound;
    const row = await store.tasks.get(request);
    if (row === undefined) return strings.tasks.notFound;
    const refusal = await taskRefusal(workspace, row, request.person);
    if (refusal !== undefined) return refusal;
    if (!(await store.tasks.attachedFileIds(row)).includes(request.fileId)) return strings.tasks.notFound;
    let name = '';
    try {
      const agent = this.#deps.agent(row.account);
      const file = await agent.getFile(request.fileId);
      name = file.filename;
      const { maxFileBytes: fileBytes } = this.#deps.settings.fileLimits;
      if (file.sizeBytes === 0) return strings.tasks.fileEmpty;
      if (file.sizeBytes > fileBytes) return strings.fileTooLarge(file.sizeBytes, fileBytes);
      await this.#upload(workspace, agent, request.person, file);
      return undefined;
    } catch (error) {
      if (!(error instanceof AgentError || error instanceof SlackError)) throw error;
      log.warn({ err: error, task: row.task, file: request.fileId }, 'a file could not be brought back');
      return strings.fileNotSent(name);
    }
  }

  async #upload(
    { posting, uploads }: WorkspaceClient,
    agent: AgentClient,
    person: string,
    file: FileRecord,
  ): Promise<void> {
    const { id, filename: name, sizeBytes } = file;
    await uploads.upload({
      channel: await posting.openDm(person),
      name,
      sizeBytes,
      content: streamBytes(agent, id, sizeBytes, name, this.#closing.signal),
      // A person who presses again gets it again: nothing is to be settled later.
      onFileId: async () => undefined,
    });
  }
}

/** The file's bytes, asked for only when Slack takes them. */
async function* streamBytes(
  agent: AgentClient,
  id: string,
  sizeBytes: number,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { body } = await agent.openFileContent(id, { signal });
  yield* withExactSize(body, sizeBytes, name);
}

function deliveryKey({ workspace, person, fileId }: TaskFileRequest): string {
  return `${workspace}/${person}/${fileId}`;
}
