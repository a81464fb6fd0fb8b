import type { NewFile, UploadedPart } from './client-options.ts';

/** An upload that has begun: enough to go on with it in another process. */
export interface ResumableUpload {
  readonly fileId: string;
  /** Null for an upload in one piece. */
  readonly uploadId: string | null;
  /** Bytes of a part; null until the upload has been planned. */
  readonly partBytes: number | null;
  /** Headers that the storage wants with every part. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly UploadedPart[];
  /** All bytes are there, and the finalize may have taken effect. */
  readonly finalizing?: boolean | undefined;
}

/** Where a file's bytes come from. */
export type UploadSource =
  /** Can be opened again at a byte offset, so that an upload can be tried again or begun anew. */
  | { readonly open: (offset: number) => Promise<AsyncIterable<Uint8Array>> }
  /** Can be read once. */
  | { readonly body: AsyncIterable<Uint8Array> };

/** A file to be uploaded, and who hears how far it is. */
export type AgentUploadRequest = NewFile &
  UploadSource & {
    /** Bytes that the storage has so far. */
    readonly onProgress?: ((doneBytes: number) => void) | undefined;
    /** Told, and waited for, when an upload has begun, or begun anew: what was told before is void. */
    readonly onStart?: ((begun: ResumableUpload) => void | Promise<void>) | undefined;
    /** Told after each part, of one at a time, and waited for before the finalize. */
    readonly onPart?: ((part: UploadedPart) => void | Promise<void>) | undefined;
    /** Told, and waited for, before the finalize. */
    readonly onFinalize?: (() => void | Promise<void>) | undefined;
    /**
     * Goes on with an upload; its parts that are done are not sent again. Where the service does not know it any
     * more it is begun anew, if the source can be opened again.
     */
    readonly resume?: ResumableUpload | undefined;
    /** Parts under way at once, 4 if left out. Memory is this plus one, times the size of a part. */
    readonly concurrency?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  };
