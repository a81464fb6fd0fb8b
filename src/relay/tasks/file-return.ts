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

/** What came of it, as a sentence. */
export interface Brought {
  sent: boolean;
  sentence: string;
}

/** Brings files of tasks back to people: streamed from the service into their direct messages, never held. */
export class FileReturn {
  readonly #parts: RelayParts;
  readonly #underWay = new Set<string>();

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Whether this file is on its way to this person already; a second press brings no second copy. */
  isUnderWay(wish: FileWish): boolean {
    return this.#underWay.has(nameOf(wish));
  }

  /** Brings a file. Throws where the store is away. */
  async bring(wish: FileWish): Promise<Brought> {
    const workspace = this.#parts.workspace(wish.workspace);
    if (workspace === undefined) return { sent: false, sentence: words.tasks.unknown };
    this.#underWay.add(nameOf(wish));
    try {
      const trouble = await this.#bring(workspace, wish);
      return { sent: trouble === undefined, sentence: trouble ?? words.tasks.fileSent };
    } finally {
      this.#underWay.delete(nameOf(wish));
    }
  }

  /** Tells a person in their direct messages, where the modal is closed that would say it. Throws a SlackError. */
  async tell({ workspace, person }: FileWish, sentence: string): Promise<void> {
    const posting = this.#parts.workspace(workspace)?.posting;
    if (posting === undefined) return;
    const channel = await posting.openDm(person);
    await posting.post({ channel, message: { text: sentence }, key: randomUUID(), kind: 'notice' });
  }

  /** A sentence on what went wrong, if something did. */
  async #bring(workspace: Workspace, wish: FileWish): Promise<string | undefined> {
    const { store, log } = this.#parts;
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
      bytes: bytesOf(agent, id, sizeBytes, name),
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
): AsyncGenerator<Uint8Array> {
  const { body } = await agent.fileContent(id);
  yield* exactly(body, sizeBytes, name);
}

function nameOf({ workspace, person, fileId }: FileWish): string {
  return `${workspace}/${person}/${fileId}`;
}
