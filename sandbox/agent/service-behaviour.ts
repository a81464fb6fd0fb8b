import { z } from 'zod';
import type { CallSubject, Misbehaviour } from './misbehaviour.ts';
import type { OddHttp } from './odd-http.ts';

const MEBIBYTE = 1024 * 1024;

/** The service's behaviour where its document leaves it open; by default strict. */
export const behaviourSchema = z.object({
  /** Ids are digits, from this number on; `null` for ids with a prefix. */
  numbersFrom: z.bigint().nullable().default(null),
  /** Format of error bodies. */
  errorBody: z
    .literal(['detail', 'detail-list', 'error-message', 'error', 'message', 'title', 'text'])
    .default('detail'),
  /** Response to a missing or unknown key. */
  badKeyStatus: z.literal([401, 403]).default(401),
  /** Unknown fields in a request's body. */
  unknownFields: z.literal(['ignored', 'refused']).default('ignored'),

  /** Where the response to POST /experimental/files has the file's id. */
  fileId: z.literal(['id', 'file_id', 'file.id']).default('id'),
  /** Where it has the URL of a single upload. */
  uploadUrl: z.literal(['upload_url', 'url', 'presigned_url']).default('upload_url'),
  /** Whether a single upload needs finalizing; a number is the response to an unneeded finalize. */
  singleFinalize: z.literal(['needed', 404, 409]).default('needed'),
  /** The response to finalize. */
  finalizeAnswer: z.literal(['file', 'empty-object', 'no-content']).default('file'),
  /** Whether a multipart response contains `part_size`. */
  givesPartSize: z.boolean().default(true),
  /** `part_size` in bytes, if given. */
  partSize: z.number().default(8 * MEBIBYTE),
  /** Minimum bytes of every part but the last (5 MiB at S3). */
  minPartSize: z.number().default(5 * MEBIBYTE),
  /** Larger files (bytes) are uploaded in parts. */
  multipartThreshold: z.number().default(8 * MEBIBYTE),
  /** Headers that every upload must send; the response lists them in `headers`. */
  uploadHeaders: z.record(z.string(), z.string()).default({}),
  /** ETags with or without quotes (disk storage only; S3 uses quotes). */
  etag: z.literal(['quoted', 'bare', 'weak']).default('quoted'),
  /** The coding in which a bucket keeps results: listed with their compressed size (disk storage only). */
  storedCoding: z.literal(['gzip', 'deflate', 'br']).nullable().default(null),
  /** Larger files (bytes) are refused with 413; `null` for no limit. */
  maxFileBytes: z.number().nullable().default(null),
  /** Refused MIME types and file extensions (`.exe`). */
  refusedTypes: z.array(z.string()).default([]),
  /** Lifetime of upload links, ms. */
  uploadLinkMs: z.number().default(15 * 60_000),
  /** Lifetime of download links, ms. */
  downloadLinkMs: z.number().default(15 * 60_000),
  /** Response to an expired link (disk storage only). */
  expiredLinkStatus: z.literal([400, 401, 403, 410]).default(403),
  /** Minimum characters of a download link (disk storage only). */
  downloadLinkLength: z.number().default(0),
  /** The response to GET /experimental/files/{id}/content. */
  contentDownload: z.literal(['bytes', 'redirect', 'json']).default('bytes'),

  /** Name of the query parameter for the project in List tasks. */
  projectParameter: z.string().default('project_id'),
  /** Whether List tasks and List task results support `after_id`; otherwise they ignore it. */
  listCursors: z.boolean().default(true),
  /** Whether `before_id` and `after_id` of List messages exclude the named message; or `after_id` has no effect. */
  messageCursors: z.literal(['exclusive', 'inclusive', 'ignored']).default('exclusive'),

  /** Whether Send a message responds at once, with or without the (empty) reply, or at the reply's end. */
  send: z.literal(['at-once', 'at-once-without-reply', 'held']).default('at-once'),
  /** For so long (ms) after a message, reads show neither its reply nor that its task is at work again. */
  startLagMs: z.number().default(0),
  /** Response to a message for a running task; a task that asks accepts it in any case. */
  messageToRunning: z.literal(['accepted', 409]).default(409),
  /** Response to a message for a failed or cancelled task. */
  messageToStopped: z.literal(['accepted', 409, 422]).default('accepted'),
  /** Whether `skill` has an effect on an existing task. */
  skillOnTask: z.literal(['runs', 'ignored']).default('ignored'),
  /** Whether new text extends the last text block or adds a block each time. */
  growth: z.literal(['in-place', 'new-blocks']).default('in-place'),
  /** Where the agent continues after an answered question. */
  afterAsk: z.literal(['same-reply', 'new-reply']).default('same-reply'),
  /** `input` of assistant messages. */
  input: z.literal(['full', 'null', 'null-file-ids']).default('full'),
  /** Where the error of failed background work stands: on the complete reply, too, or only in the task's status. */
  backgroundError: z.literal(['on-the-reply', 'only-the-task']).default('on-the-reply'),
  /** Whether replies settle with their runs; otherwise only the task does, as if the worker had died. */
  repliesSettle: z.boolean().default(true),
  /** Response to a cancel when nothing is running. */
  cancelSettled: z.literal(['accepted', 409]).default('accepted'),
  /** How long (ms) after a reply that failed the agent begins a second one to the same message; `null` for never. */
  secondReplyMs: z.number().nullable().default(null),
  /** What is odd, but valid, about the response to a call, also of storage; `null` for ordinary HTTP. */
  oddHttp: z.custom<(call: string) => OddHttp | undefined>().nullable().default(null),
  /** How the answer to a call is spoilt, by the call's name and its right body; `null` for a service that behaves. */
  misbehaviour: z
    .custom<(call: string, body: object, about: CallSubject) => Misbehaviour | undefined>()
    .nullable()
    .default(null),
  /** The status with which a call is refused before it takes effect; `null` for a service that behaves. */
  refusal: z.custom<(call: string, about: CallSubject) => number | undefined>().nullable().default(null),
  /** Whether a result has the id of an earlier one of its name, and whether its own time. */
  rewrittenResult: z.literal(['new-id', 'same-id', 'same-id-and-time']).default('new-id'),
  /** Whether a task lists earlier reviews besides the latest. */
  reviewsKept: z.boolean().default(false),
});

/** Fields may be changed while the service runs; the next request sees the change. */
export type ServiceBehaviour = z.output<typeof behaviourSchema>;
