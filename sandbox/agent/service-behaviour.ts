import type { CallSubject, Misbehaviour } from './misbehaviour.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * The service's behaviour where its document leaves it open. Fields may be changed while it runs; the next request sees
 * the change.
 */
export interface ServiceBehaviour {
  /** Format of error bodies. */
  errorBody: 'detail' | 'detail-list' | 'error-message' | 'error' | 'message' | 'title' | 'text';
  /** Response to a missing or unknown key. */
  badKeyStatus: 401 | 403;
  /** Unknown fields in a request's body. */
  unknownFields: 'ignored' | 'refused';
  /** Calls per key within a sliding window; `null` for no limit. */
  rateLimit: { calls: number; windowMs: number } | null;

  /** Where the response to POST /experimental/files has the file's id. */
  fileId: 'id' | 'file_id' | 'file.id';
  /** Where it has the URL of a single upload. */
  uploadUrl: 'upload_url' | 'url' | 'presigned_url';
  /** Whether a single upload needs finalizing; a number is the response to an unneeded finalize. */
  singleFinalize: 'needed' | 404 | 409;
  /** The response to finalize. */
  finalizeAnswer: 'file' | 'empty-object' | 'no-content';
  /** Whether a multipart response contains `part_size`. */
  givesPartSize: boolean;
  /** `part_size` in bytes, if given. */
  partSize: number;
  /** Minimum bytes of every part but the last (5 MiB at S3). */
  minPartSize: number;
  /** Larger files (bytes) are uploaded in parts. */
  multipartThreshold: number;
  /** Headers that every upload must send; the response lists them in `headers`. */
  uploadHeaders: Record<string, string>;
  /** ETags with or without quotes (disk storage only; S3 uses quotes). */
  etag: 'quoted' | 'bare';
  /** Larger files (bytes) are refused with 413; `null` for no limit. */
  maxFileBytes: number | null;
  /** Refused MIME types and file extensions (`.exe`). */
  refusedTypes: string[];
  refusedTypeStatus: 415 | 422;
  /** Lifetime of upload links, ms. */
  uploadLinkMs: number;
  /** Lifetime of download links, ms. */
  downloadLinkMs: number;
  /** Response to an expired link (disk storage only). */
  expiredLinkStatus: 400 | 401 | 403 | 410;
  /** Minimum characters of a download link (disk storage only). */
  downloadLinkLength: number;
  /** The response to GET /experimental/files/{id}/content. */
  contentDownload: 'bytes' | 'redirect' | 'json';

  /** Name of the query parameter for the project in List tasks. */
  projectParameter: string;
  /** Whether List tasks and List task results support `after_id`; otherwise they ignore it. */
  listCursors: boolean;
  /** Default `limit` of List tasks and List task results. */
  defaultLimit: number;
  /** Whether `before_id` and `after_id` of List messages exclude the named message; or `after_id` has no effect. */
  messageCursors: 'exclusive' | 'inclusive' | 'ignored';
  /** Name of the flag that forbids a fallback model. */
  fallbackFlag: string;

  /** Whether Send a message responds at once, with or without the (empty) reply, or at the reply's end. */
  send: 'at-once' | 'at-once-without-reply' | 'held';
  /** For so long (ms) after a message, reads show neither its reply nor that its task is at work again. */
  startLagMs: number;
  /** Response to a message for a running task; a task that asks accepts it in any case. */
  messageToRunning: 'accepted' | 409;
  /** Response to a message for a failed or cancelled task. */
  messageToStopped: 'accepted' | 409 | 422;
  /** Whether `skill` has an effect on an existing task. */
  skillOnTask: 'runs' | 'ignored';
  /** Whether new text extends the last text block or adds a block each time. */
  growth: 'in-place' | 'new-blocks';
  /** Where the agent continues after an answered question. */
  afterAsk: 'same-reply' | 'new-reply';
  /** `input` of assistant messages. */
  input: 'full' | 'null' | 'null-file-ids';
  /** When a graceful cancel marks the task as `cancelled`. */
  gracefulCancel: 'at-once' | 'when-stopped';
  /** Where the error of failed background work stands: on the complete reply, too, or only in the task's status. */
  backgroundError: 'on-the-reply' | 'only-the-task';
  /** Whether replies settle with their runs; otherwise only the task does, as if the worker had died. */
  repliesSettle: boolean;
  /** Response to a cancel when nothing is running. */
  cancelSettled: 'accepted' | 409;
  /** Whether List messages includes the messages with a review's findings. */
  reviewsInList: boolean;
  /** How the answer to a call is spoilt, by the call's name and its right body; `null` for a service that behaves. */
  misbehaviour: ((call: string, body: object, about: CallSubject) => Misbehaviour | undefined) | null;
  /** The status with which a call is refused before it takes effect; `null` for a service that behaves. */
  refusal: ((call: string, about: CallSubject) => number | undefined) | null;
  /** Whether a task lists earlier reviews besides the latest. */
  reviewsKept: boolean;
}

/** The default behaviour: strict where the document is silent. */
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
  expiredLinkStatus: 403,
  downloadLinkLength: 0,
  contentDownload: 'bytes',
  projectParameter: 'project_id',
  listCursors: true,
  defaultLimit: 20,
  messageCursors: 'exclusive',
  fallbackFlag: 'disable_fallback',
  send: 'at-once',
  startLagMs: 0,
  messageToRunning: 409,
  messageToStopped: 'accepted',
  skillOnTask: 'ignored',
  growth: 'in-place',
  afterAsk: 'same-reply',
  input: 'full',
  gracefulCancel: 'at-once',
  backgroundError: 'on-the-reply',
  repliesSettle: true,
  cancelSettled: 'accepted',
  reviewsInList: false,
  reviewsKept: false,
  misbehaviour: null,
  refusal: null,
};
