import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { FileRecord } from '../../agent/service-schema.ts';
import { taskUseRefusal } from '../../relay/access/control-permission.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { sendDirectMessage } from '../../relay/runtime/private-notices.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import { withExactSize } from '../../slack/file-response.ts';

export interface TaskFileRequest extends ChannelActor {
  thread_ts: string;
  /** The service's id. */
  fileId: string;
}

type SizedFile = FileRecord & { sizeBytes: number };

/** Sends files of tasks back to people: streamed from the service into their direct messages. */
export class TaskFileDelivery {
  readonly #deps: RelayDeps;
  /** Files on their way, each with the person whom it goes to. */
  readonly #onTheWay = new Set<string>();
  /** Deliveries under way, until their outcome is told. */
  readonly #deliveries = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a file and reports progress through `showInModal`, which returns false once the modal is closed: a failure
   * then goes out as a direct message. Ignores a file that is already on its way to this person. Throws a StoreError.
   */
  async deliver(
    request: TaskFileRequest,
    showInModal: (sentence: string) => Promise<boolean>,
  ): Promise<void> {
    const key = `${request.workspace}/${request.person}/${request.fileId}`;
    if (this.#onTheWay.has(key)) return;
    this.#onTheWay.add(key);
    // Before the outcome shows: whoever reads of a failure may press again at once.
    const sent = this.#sendFile(request).finally(() => this.#onTheWay.delete(key));
    const delivery = this.#report(request, sent, showInModal);
    this.#deliveries.add(delivery);
    await delivery.finally(() => this.#deliveries.delete(delivery));
  }

  /** Cancels deliveries under way; the people waiting for them are told. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#deliveries);
  }

  async #report(
    request: TaskFileRequest,
    sent: Promise<string | undefined>,
    showInModal: (sentence: string) => Promise<boolean>,
  ): Promise<void> {
    const shown = (sentence: string) =>
      showInModal(sentence).catch((error: unknown) => {
        this.#deps.log.warn({ err: error, file: request.fileId }, 'could not show how far a file is');
        return false;
      });
    const [failure] = await Promise.all([sent, shown(strings.tasks.fileOnTheWay)]);
    const isSeen = await shown(failure ?? strings.tasks.fileSent);
    if (!isSeen && failure !== undefined) await sendDirectMessage(this.#deps, request, failure);
  }

  /** A sentence about what went wrong; undefined if the file was sent. */
  async #sendFile(request: TaskFileRequest): Promise<string | undefined> {
    const { store, log } = this.#deps;
    const workspace = this.#deps.workspace(request.workspace);
    if (workspace === undefined) return strings.tasks.notFound;
    const row = await store.tasks.get(request);
    if (row === undefined) return strings.tasks.notFound;
    const use = { person: request.person, control: 'task_files' };
    const refusal = await taskUseRefusal(this.#deps, workspace, row, use);
    if (refusal !== undefined) return refusal;
    if (!(await store.tasks.attachedFileIds(row)).includes(request.fileId)) return strings.tasks.notFound;
    let name = '';
    try {
      const agent = this.#deps.agent(row.account_id);
      const file = await agent.getFile(request.fileId);
      name = file.filename;
      const { maxFileBytes: fileBytes } = this.#deps.settings.fileLimits;
      const { sizeBytes } = file;
      // Slack wants to know it before the first byte.
      if (sizeBytes === null) return strings.fileNotSent(name);
      if (sizeBytes === 0) return strings.tasks.fileEmpty;
      if (sizeBytes > fileBytes) return strings.fileTooLarge(sizeBytes, fileBytes);
      await workspace.uploads.upload({
        channel: await workspace.posting.openDm(request.person),
        name,
        sizeBytes,
        content: this.#bytesOf(agent, { ...file, sizeBytes }),
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof AgentError || error instanceof SlackError)) throw error;
      log.warn({ err: error, task: row.task_id, file: request.fileId }, 'could not send a file back');
      return strings.fileNotSent(name);
    }
  }

  /** The file's bytes, requested once Slack takes them. */
  async *#bytesOf(agent: AgentClient, { id, filename, sizeBytes }: SizedFile): AsyncGenerator<Uint8Array> {
    const { body } = await agent.openFileContent(id, { signal: this.#closing.signal });
    yield* withExactSize(body, sizeBytes, filename);
  }
}
