import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SharedFile } from '../slack/actions/message-actions.ts';

const MIME_TYPES: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  md: 'text/markdown',
};

/** Holds files from the browser in a temporary folder until a message or form uses them. */
export class BrowserUploads {
  readonly #waiting = new Map<string, SharedFile>();
  #folder: Promise<string> | undefined;
  #count = 0;

  /** Stores a request's body and returns its key. */
  async receive(name: string, mime: string, body: IncomingMessage): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), 'taskthread-page-'));
    this.#count += 1;
    const key = String(this.#count);
    const path = join(await this.#folder, key);
    await pipeline(body, createWriteStream(path));
    const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
    this.#waiting.set(key, { name, mime: MIME_TYPES[ending] ?? (mime || 'application/octet-stream'), path });
    return key;
  }

  /** Removes and returns the file of a key. @throws if there is none */
  take(key: string): SharedFile {
    const file = this.#waiting.get(key);
    if (file === undefined) throw new Error('That file was not uploaded. Please attach it again.');
    this.#waiting.delete(key);
    return file;
  }

  async stop(): Promise<void> {
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }
}
