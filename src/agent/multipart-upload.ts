import { Readable } from 'node:stream';
import type { AgentClient } from './agent-client.ts';
import { AgentError } from './errors.ts';
import { FileBytes } from './file-bytes.ts';
import type { AgentUploadRequest, ResumableUpload } from './request-bodies.ts';
import type { ServiceOptions } from './service-options.ts';

const MAX_ETAG_LENGTH = 1024;
/** Links expire, so they are requested for a few parts at a time. */
const LINKS_AT_ONCE = 8;

/** An upload in parts that was started. */
type MultipartState = ResumableUpload & { readonly uploadId: string };

/** Uploads the missing parts of a file, one after the other. */
export class MultipartUpload {
  readonly #client: AgentClient;
  readonly #request: AgentUploadRequest;
  readonly #upload: MultipartState;
  readonly #parts: readonly Part[];
  readonly #bytes: FileBytes;
  readonly #etags: Map<number, string>;
  readonly #urls = new Map<number, string>();

  constructor(client: AgentClient, request: AgentUploadRequest, upload: MultipartState) {
    this.#client = client;
    this.#request = request;
    this.#bytes = new FileBytes(request);
    const plan = planParts(request.sizeBytes, upload.partBytes, client.serviceOptions);
    this.#parts = plan.parts;
    this.#upload = { ...upload, partBytes: plan.partBytes };
    this.#etags = new Map(upload.parts.map(({ number, etag }) => [number, etag]));
  }

  async run(): Promise<ResumableUpload> {
    const { resume, onStart, onPart } = this.#request;
    if (resume?.uploadId !== this.#upload.uploadId) await onStart?.(this.#upload);
    this.#reportProgress();
    try {
      for (const part of this.#missing()) {
        const { number } = part;
        const etag = await this.#client.links.renewingOnce((isExpired) => this.#send(part, isExpired));
        this.#etags.set(number, etag);
        this.#reportProgress();
        await onPart?.({ number, etag });
      }
    } finally {
      this.#bytes.close();
    }
    return { ...this.#upload, parts: Array.from(this.#etags, ([number, etag]) => ({ number, etag })) };
  }

  /** Sends a part; returns its ETag. */
  async #send({ number, offset, size }: Part, isExpired: boolean): Promise<string> {
    if (isExpired) await this.#requestUrls([number]);
    const etag = await this.#client.links.put({
      name: `upload link of part ${number}`,
      method: 'PUT',
      url: await this.#urlOf(number),
      headers: this.#upload.headers ?? {},
      body: () => Readable.from(this.#bytes.piece(offset, size), { objectMode: false }),
      sizeBytes: size,
      signal: this.#request.signal,
    });
    if (etag !== undefined && etag.length <= MAX_ETAG_LENGTH) return etag;
    throw new AgentError('not_understood', {
      sentence: `The agent service's file storage returned no usable ETag for part ${number}. Upload the file again.`,
      outcome: 'unknown',
    });
  }

  async #urlOf(number: number): Promise<string> {
    if (!this.#urls.has(number)) {
      const next = this.#missing().slice(0, LINKS_AT_ONCE);
      await this.#requestUrls(next.map((part) => part.number));
    }
    const url = this.#urls.get(number);
    if (url !== undefined) return url;
    throw new AgentError('not_understood', {
      sentence: `The agent service returned no upload link for part ${number}. Upload the file again.`,
      outcome: 'refused',
    });
  }

  async #requestUrls(numbers: readonly number[]): Promise<void> {
    const { signal } = this.#request;
    const { fileId, uploadId } = this.#upload;
    for (const number of numbers) this.#urls.delete(number);
    const urls = await this.#client.partUrls(fileId, uploadId, numbers, { signal });
    for (const [number, url] of urls) this.#urls.set(number, url);
  }

  #reportProgress(): void {
    const missing = this.#missing().reduce((sum, { size }) => sum + size, 0);
    this.#request.onProgress?.(this.#request.sizeBytes - missing);
  }

  #missing(): Part[] {
    return this.#parts.filter(({ number }) => !this.#etags.has(number));
  }
}

/** One part: its number at the service, and its bytes in the file. */
interface Part {
  readonly number: number;
  readonly offset: number;
  readonly size: number;
}

/** Splits a file into parts of the given or configured size, raised to S3's limits. */
export function planParts(
  sizeBytes: number,
  givenBytes: number | null,
  serviceOptions: ServiceOptions,
): { partBytes: number; parts: Part[] } {
  const minBytes = givenBytes ?? Math.max(serviceOptions.partBytes, serviceOptions.leastPartBytes);
  const partBytes = Math.max(minBytes, Math.ceil(sizeBytes / serviceOptions.mostParts));
  const parts = Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, index) => ({
    number: index + serviceOptions.firstPartNumber,
    offset: index * partBytes,
    size: Math.min(partBytes, sizeBytes - index * partBytes),
  }));
  return { partBytes, parts };
}
