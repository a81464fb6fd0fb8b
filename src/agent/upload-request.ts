import type { NewFile, UploadedPart } from './client-options.ts';

/** A started upload: everything that another process needs to resume it. */
export interface ResumableUpload {
  readonly fileId: string;
  /** Null for an upload in one piece. */
  readonly uploadId: string | null;
  /** Bytes of a part; null until the upload has been planned. */
  readonly partBytes: number | null;
  /** Headers that the storage requires with every part. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly UploadedPart[];
  /** All bytes are uploaded, and the finalize may have taken effect. */
  readonly finalizing?: boolean | undefined;
}

export interface AgentUploadRequest extends NewFile {
  /** Opens the file's bytes at an offset: again for each retry or restart. */
  readonly open: (offset: number) => Promise<AsyncIterable<Uint8Array>>;
  /** Called with the bytes that the storage has so far. */
  readonly onProgress?: ((doneBytes: number) => void) | undefined;
  /** Awaited when an upload has started or restarted; what was reported before no longer counts. */
  readonly onStart?: ((started: ResumableUpload) => void | Promise<void>) | undefined;
  /** Called after each part, for one part at a time, and awaited before the finalize. */
  readonly onPart?: ((part: UploadedPart) => void | Promise<void>) | undefined;
  /** Awaited before the finalize. */
  readonly onFinalize?: (() => void | Promise<void>) | undefined;
  /** Resumes an upload; finished parts are not sent again. If the service no longer knows the upload, it is restarted. */
  readonly resume?: ResumableUpload | undefined;
  /** Parts sent at the same time, 4 by default. Uses the memory of one part more. */
  readonly concurrency?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}
