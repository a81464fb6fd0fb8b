import type { Caller } from './caller.ts';
import { type FileContent, openContent, openLink } from './content.ts';
import type { Dialect } from './dialect.ts';
import type { Put } from './links.ts';
import type { CallOptions, GuardedOptions, NewFile, UploadedPart } from './options.ts';
import type { UploadMemory } from './part-memory.ts';
import { finalizeBody, newFileBody } from './request-bodies.ts';
import { type FileRecord, fileSchema, partUrlsSchema } from './schema.ts';
import { type StartedUpload, startedUpload } from './started-upload.ts';

const filesPath = '/experimental/files';
const filePath = '/experimental/files/{file_id}';

/** The service's files: the part of AgentClient that uploads need. */
export class FileCalls {
  protected readonly caller: Caller;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  get dialect(): Dialect {
    return this.caller.dialect;
  }

  /** What uploads in parts may hold. */
  get partMemory(): UploadMemory {
    return this.caller.partMemory;
  }

  /** A file's metadata. */
  async getFile(fileId: string, options: CallOptions = {}): Promise<FileRecord> {
    return await this.caller.get(filePath, { file_id: fileId }, fileSchema, options);
  }

  /** Opens a file's contents. The caller reads or destroys `body`. */
  async fileContent(fileId: string, options: CallOptions = {}): Promise<FileContent> {
    const path = `${filePath}/content`;
    const call = { method: 'GET', path, repeat: true, ...this.caller.usual(options) } as const;
    const answer = await this.caller.http.open({ ...call, ids: { file_id: fileId } });
    return await openContent(answer, {
      dialect: this.dialect,
      links: this.caller.links,
      service: this.caller.http.address,
      signal: options.signal,
      sizeBytes: async () => (await this.getFile(fileId, options)).sizeBytes,
    });
  }

  /** Opens a signed download link of a result, without the key. The caller reads or destroys `body`. */
  async download(link: string, options: CallOptions = {}): Promise<FileContent> {
    return await openLink(this.caller.links, this.dialect, link, options.signal);
  }

  /** Sends bytes to a signed upload link, without the key. */
  async putLink(put: Put): Promise<{ etag: string | undefined }> {
    return await this.caller.links.put(put);
  }

  /** Starts an upload; uploadFile() does the whole of it. */
  async startUpload(file: NewFile, options: GuardedOptions = {}): Promise<StartedUpload> {
    return await this.caller.create(
      filesPath,
      newFileBody(file, this.dialect),
      startedUpload(this.dialect),
      options,
    );
  }

  /** Upload links of these parts, by part number. */
  async partUrls(
    fileId: string,
    uploadId: string,
    partNumbers: readonly number[],
    options: CallOptions = {},
  ): Promise<Map<number, string>> {
    const body = { upload_id: uploadId, part_numbers: partNumbers };
    const call = { method: 'POST', path: `${filePath}/parts`, body, repeat: true } as const;
    const sent = { ...call, ids: { file_id: fileId }, ...this.caller.usual(options) };
    return (await this.caller.http.json(sent, partUrlsSchema)).value;
  }

  /**
   * Finalizes an upload; the file where the answer holds one. Repeated after passing failures, because a second
   * finalize makes no second file; it may be refused, with `attempts > 1`, and Get a file then decides.
   */
  async finalizeUpload(
    fileId: string,
    multipart: { readonly uploadId: string; readonly parts: readonly UploadedPart[] } | null,
    options: CallOptions = {},
  ): Promise<FileRecord | null> {
    const call = {
      method: 'POST',
      path: `${filePath}/finalize`,
      ids: { file_id: fileId },
      repeat: true,
    } as const;
    const body = finalizeBody(multipart, this.dialect);
    const sent = { ...call, body, timeoutMs: this.caller.timeouts.finalizeMs, signal: options.signal };
    return await this.caller.http.any(sent, fileSchema);
  }
}
