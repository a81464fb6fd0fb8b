import type { NewFile, UploadedPart } from './options.ts';

/** Enough to go on with a multipart upload in another process. */
export interface MultipartProgress {
  readonly fileId: string;
  readonly uploadId: string;
  /** Bytes of a part; null until the upload has been planned. */
  readonly partBytes: number | null;
  /** Headers that the storage wants with every part. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly parts: readonly UploadedPart[];
}

/** Where a file's bytes come from. */
export type UploadSource =
  /** Can be opened again at a byte offset, so a single upload can be tried again. */
  | { readonly open: (offset: number) => Promise<AsyncIterable<Uint8Array>> }
  /** Can be read once. */
  | { readonly body: AsyncIterable<Uint8Array> };

export type UploadRequest = NewFile &
  UploadSource & {
    /** Bytes that the storage has so far. */
    readonly onProgress?: ((doneBytes: number) => void) | undefined;
    /** Told, and waited for, when a multipart upload has started and after each part: enough to go on later. */
    readonly onPart?: ((progress: MultipartProgress) => void | Promise<void>) | undefined;
    /** Goes on with a multipart upload; its parts that are done are not sent again. */
    readonly resume?: MultipartProgress | undefined;
    /** Parts under way at once, 4 if left out. Memory is this plus one, times the size of a part. */
    readonly concurrency?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  };
