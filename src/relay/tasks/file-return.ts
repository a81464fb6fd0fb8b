import { randomUUID } from 'node:crypto';
import type { AgentClient } from '../../agent/client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { FileRecord } from '../../agent/schema.ts';
import * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { exactly } from '../files/exact-bytes.ts';
import { taskRefusal } from './access.ts';

/** A person wants a file back that went along with a task's messages. */
export interface FileWish {
  workspace: string;
  person: string;
  channel: string;
  root: string;
  /** The service's id. */
  fileId: string;
}

/** Brings files of tasks back to people: streamed from the service into their direct messages, never held. */
export class FileReturn {
  readonly #parts: RelayParts;
  /** Files on their way, by file and person. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /**
   * Brings a file, and says what comes of it by `show`, which answers whether anybody sees it: who does not is told
   * directly of a failure. One that is on its way to this person already is brought once. Throws where the store is away.
   */
  async deliver(wish: FileWish, show: (sentence: string) => Promise<boolean>): Promise<void> {
    const name = nameOf(wish);
    if (this.#underWay.has(name)) return;
    const delivery = this.#deliver(wish, show).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, delivery);
    await delivery;
  }

  /** Breaks off what is on its way; whoever waits for it is told. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay.values());
  }

  async #deliver(wish: FileWish, show: (sentence: string) => Promise<boolean>): Promise<void> {
    const shown = (sentence: string) =>
      show(sentence).catch((error: unknown) => {
        this.#parts.log.warn({ err: error, file: wish.fileId }, 'it could not be shown what comes of a file');
        return false;
      });
    const [trouble] = await Promise.all([this.#bring(wish), shown(words.tasks.fileOnItsWay)]);
    const isSeen = await shown(trouble ?? words.tasks.fileSent);
    if (!isSeen && trouble !== undefined) await this.#tell(wish, trouble);
  }

  /** Tells a person in their direct messages, where the modal is closed that would say it. Throws a SlackError. */
  async #tell({ workspace, person }: FileWish, sentence: string): Promise<void> {
    const posting = this.#parts.workspace(workspace)?.posting;
    if (posting === undefined) return;
    const channel = await posting.openDm(person);
    await posting.post({ channel, message: { text: sentence }, key: randomUUID(), kind: 'notice' });
  }

  /** A sentence on what went wrong, if something did. */
  async #bring(wish: FileWish): Promise<string | undefined> {
    const { store, log } = this.#parts;
    const workspace = this.#parts.workspace(wish.workspace);
    if (workspace === undefined) return words.tasks.unknown;
    const row = await store.tasks.get(wish);
    if (row === undefined) return words.tasks.unknown;
    const refusal = await taskRefusal(workspace, row, wish.person);
    if (refusal !== undefined) return refusal;
    if (!(await store.tasks.attached(row)).includes(wish.fileId)) return words.tasks.unknown;
    let name = '';
    try {
      const agent = this.#parts.agent(row.account);
      const file = await agent.getFile(wish.fileId);
      name = file.filename;
      const { fileBytes } = this.#parts.settings.files;
      if (file.sizeBytes === 0) return words.tasks.fileEmpty;
      if (file.sizeBytes > fileBytes) return words.fileTooLarge(file.sizeBytes, fileBytes);
      await this.#upload(workspace, agent, wish.person, file);
      return undefined;
    } catch (error) {
      if (!(error instanceof AgentError || error instanceof SlackError)) throw error;
      log.warn({ err: error, task: row.task, file: wish.fileId }, 'a file could not be brought back');
      return words.fileNotSent(name);
    }
  }

  async #upload(
    { posting, uploads }: Workspace,
    agent: AgentClient,
    person: string,
    file: FileRecord,
  ): Promise<void> {
    const { id, filename: name, sizeBytes } = file;
    await uploads.upload({
      channel: await posting.openDm(person),
      name,
      sizeBytes,
      bytes: bytesOf(agent, id, sizeBytes, name, this.#closing.signal),
      // A person who presses again gets it again: nothing is to be settled later.
      onId: async () => undefined,
    });
  }
}

/** The file's bytes, asked for only when Slack takes them. */
async function* bytesOf(
  agent: AgentClient,
  id: string,
  sizeBytes: number,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { body } = await agent.fileContent(id, { signal });
  yield* exactly(body, sizeBytes, name);
}

function nameOf({ workspace, person, fileId }: FileWish): string {
  return `${workspace}/${person}/${fileId}`;
}
