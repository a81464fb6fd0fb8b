import type { AgentCallOptions, GuardedCallOptions, NewFile, UploadedPart } from './client-options.ts';
import type { EndpointCaller } from './endpoint-caller.ts';
import { type FileContent, openContent, openLink } from './file-content.ts';
import { finalizeBody, newFileBody } from './request-bodies.ts';
import type { ServiceOptions } from './service-options.ts';
import { type FileRecord, fileSchema, partUrlsSchema } from './service-schema.ts';
import type { LinkUpload } from './signed-links.ts';
import { type StartedUpload, startedUploadSchema } from './started-upload.ts';
import type { UploadMemory } from './upload-memory.ts';

const FILES_PATH = '/experimental/files';
const FILE_PATH = '/experimental/files/{file_id}';

/** The service's files: the part of AgentClient that uploads need. */
export class FileCalls {
  protected readonly caller: EndpointCaller;

  constructor(caller: EndpointCaller) {
    this.caller = caller;
  }

  get serviceOptions(): ServiceOptions {
    return this.caller.serviceOptions;
  }

  /** What uploads in parts may hold. */
  get uploadMemory(): UploadMemory {
    return this.caller.uploadMemory;
  }

  /** A file's metadata. */
  async getFile(fileId: string, options: AgentCallOptions = {}): Promise<FileRecord> {
    return await this.caller.get(FILE_PATH, { file_id: fileId }, fileSchema, options);
  }

  /** Opens a file's contents. The caller reads or destroys `body`. */
  async openFileContent(fileId: string, options: AgentCallOptions = {}): Promise<FileContent> {
    const path = `${FILE_PATH}/content`;
    const call = { method: 'GET', path, repeat: true, ...this.caller.defaults(options) } as const;
    const answer = await this.caller.http.requestStream({ ...call, ids: { file_id: fileId } });
    return await openContent(answer, {
      serviceOptions: this.serviceOptions,
      links: this.caller.links,
      service: this.caller.http.baseUrl,
      signal: options.signal,
      sizeBytes: async () => (await this.getFile(fileId, options)).sizeBytes,
    });
  }

  /** Opens a signed download link of a result, without the key. The caller reads or destroys `body`. */
  async openSignedLink(link: string, options: AgentCallOptions = {}): Promise<FileContent> {
    return await openLink(this.caller.links, this.serviceOptions, link, options.signal);
  }

  /** Sends bytes to a signed upload link, without the key. */
  async uploadToLink(put: LinkUpload): Promise<{ etag: string | undefined }> {
    return await this.caller.links.put(put);
  }

  /** Starts an upload; uploadFile() does the whole of it. */
  async startUpload(file: NewFile, options: GuardedCallOptions = {}): Promise<StartedUpload> {
    return await this.caller.create(
      FILES_PATH,
      newFileBody(file, this.serviceOptions),
      startedUploadSchema(this.serviceOptions),
      options,
    );
  }

  /** Upload links of these parts, by part number. */
  async partUrls(
    fileId: string,
    uploadId: string,
    partNumbers: readonly number[],
    options: AgentCallOptions = {},
  ): Promise<Map<number, string>> {
    const body = { upload_id: uploadId, part_numbers: partNumbers };
    const call = { method: 'POST', path: `${FILE_PATH}/parts`, body, repeat: true } as const;
    const sent = { ...call, ids: { file_id: fileId }, ...this.caller.defaults(options) };
    return (await this.caller.http.requestJson(sent, partUrlsSchema)).value;
  }

  /**
   * Finalizes an upload; the file where the answer holds one. Repeated after passing failures, because a second
   * finalize makes no second file; it may be refused, with `attempts > 1`, and Get a file then decides.
   */
  async finalizeUpload(
    fileId: string,
    multipart: { readonly uploadId: string; readonly parts: readonly UploadedPart[] } | null,
    options: AgentCallOptions = {},
  ): Promise<FileRecord | null> {
    const call = {
      method: 'POST',
      path: `${FILE_PATH}/finalize`,
      ids: { file_id: fileId },
      repeat: true,
    } as const;
    const body = finalizeBody(multipart, this.serviceOptions);
    const sent = { ...call, body, timeoutMs: this.caller.timeouts.finalizeMs, signal: options.signal };
    return await this.caller.http.requestJsonOrNull(sent, fileSchema);
  }
}
