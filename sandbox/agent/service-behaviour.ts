const MEBIBYTE = 1024 * 1024;

/**
 * How this service settles what its document leaves open. Every field may be changed while it runs;
 * the next request sees the change.
 */
export interface ServiceBehaviour {
  /** Shape of an error's body. */
  errorBody: 'detail' | 'detail-list' | 'error-message' | 'error' | 'message' | 'title' | 'text';
  /** Answer to a missing or unknown key. */
  badKeyStatus: 401 | 403;
  /** Unknown fields of a request's body. */
  unknownFields: 'ignored' | 'refused';
  /** Calls that one key may make within a sliding window; `null` for no limit. */
  rateLimit: { calls: number; windowMs: number } | null;

  /** Where the answer to POST /experimental/files carries the file's id. */
  fileId: 'id' | 'file_id' | 'file.id';
  /** Where it carries the address of a single upload. */
  uploadUrl: 'upload_url' | 'url' | 'presigned_url';
  /** Whether a single upload needs finalize; a number is what finalize answers where it does not. */
  singleFinalize: 'needed' | 404 | 409;
  /** What finalize answers with. */
  finalizeAnswer: 'file' | 'empty-object' | 'no-content';
  /** Whether `part_size` is part of a multipart answer. */
  givesPartSize: boolean;
  /** Bytes; `part_size` where it is given. */
  partSize: number;
  /** Bytes that every part but the last must have (5 MiB at S3). */
  minPartSize: number;
  /** Bytes; a file larger than this is uploaded in parts. */
  multipartThreshold: number;
  /** Headers that every upload must carry; named in `headers` of the answer when there are any. */
  uploadHeaders: Record<string, string>;
  /** ETag of an uploaded part with or without quotes (disk storage only; S3 quotes). */
  etag: 'quoted' | 'bare';
  /** Bytes; a larger file is refused with 413. `null` for no limit. */
  maxFileBytes: number | null;
  /** MIME types and endings (`.exe`) that are refused. */
  refusedTypes: string[];
  refusedTypeStatus: 415 | 422;
  /** Lifetime of upload links, ms. */
  uploadLinkMs: number;
  /** Lifetime of download links, ms. */
  downloadLinkMs: number;
  /** Characters that a download link has at least (disk storage only). */
  downloadLinkLength: number;
  /** What GET /experimental/files/{id}/content answers with. */
  contentDownload: 'bytes' | 'redirect' | 'json';

  /** Name of the query parameter that selects the project of List tasks. */
  projectParameter: string;
  /** Whether List tasks and List task results take `after_id` (else it is ignored). */
  listCursors: boolean;
  /** Default of `limit` for List tasks and List task results. */
  defaultLimit: number;
  /** Whether `before_id` and `after_id` of List messages leave that message out. */
  messageCursors: 'exclusive' | 'inclusive';
  /** Name of the flag that forbids a fallback model. */
  fallbackFlag: string;

  /** What Send a message waits for: nothing, with or without the (empty) reply; or the reply's end. */
  send: 'at-once' | 'at-once-without-reply' | 'held';
  /** A message to a task that runs (one that asks takes it in any case). */
  messageToRunning: 'accepted' | 409;
  /** A message to a task that failed or was cancelled. */
  messageToStopped: 'accepted' | 409 | 422;
  /** Whether `skill` has an effect on an existing task. */
  skillOnTask: 'runs' | 'ignored';
  /** Text that is written later: into the last text block, or as a new block each time. */
  growth: 'in-place' | 'new-blocks';
  /** Where the agent goes on after a question was answered. */
  afterAsk: 'same-reply' | 'new-reply';
  /** `input` of assistant messages. */
  input: 'full' | 'null' | 'null-file-ids';
  /** When a graceful cancel makes the task `cancelled`: at once, or when the reply has stopped. */
  gracefulCancel: 'at-once' | 'when-stopped';
  /** Cancel where nothing runs. */
  cancelSettled: 'accepted' | 409;
  /** Whether the messages with a review's findings are part of List messages. */
  reviewsInList: boolean;
  /** Whether a task lists its earlier reviews beside the newest. */
  reviewsKept: boolean;
}

/** The settings used where a test names none; strict where the document is silent. */
export const DEFAULT_BEHAVIOUR: Readonly<ServiceBehaviour> = {
  errorBody: 'detail',
  badKeyStatus: 401,
  unknownFields: 'ignored',
  rateLimit: null,
  fileId: 'id',
  uploadUrl: 'upload_url',
  singleFinalize: 'needed',
  finalizeAnswer: 'file',
  givesPartSize: true,
  partSize: 8 * MEBIBYTE,
  minPartSize: 5 * MEBIBYTE,
  multipartThreshold: 8 * MEBIBYTE,
  uploadHeaders: {},
  etag: 'quoted',
  maxFileBytes: null,
  refusedTypes: [],
  refusedTypeStatus: 415,
  uploadLinkMs: 15 * 60_000,
  downloadLinkMs: 15 * 60_000,
  downloadLinkLength: 0,
  contentDownload: 'bytes',
  projectParameter: 'project_id',
  listCursors: true,
  defaultLimit: 20,
  messageCursors: 'exclusive',
  fallbackFlag: 'disable_fallback',
  send: 'at-once',
  messageToRunning: 409,
  messageToStopped: 'accepted',
  skillOnTask: 'runs',
  growth: 'in-place',
  afterAsk: 'same-reply',
  input: 'full',
  gracefulCancel: 'at-once',
  cancelSettled: 'accepted',
  reviewsInList: false,
  reviewsKept: false,
};
