import { z } from 'zod';

const mebibyte = 1024 * 1024;
const name = z.string().min(1);
const statuses = z.array(z.int().min(400).max(499));

/**
 * Every name and shape that the service's document does not show. Nothing else in the code knows a guess.
 * An empty name means that the field is not sent. Strict, so that a misspelt setting is noticed.
 */
export const dialectSchema = z.strictObject({
  /** Path of Send a message; `{task_id}` is replaced. */
  sendMessagePath: z
    .string()
    .regex(/^\/.*\{task_id\}/, 'must start with / and hold {task_id}')
    .default('/experimental/tasks/{task_id}/messages'),
  sendMessageModelField: z.string().default(''),
  initialMessageRoleField: name.default('role'),
  initialMessageContentField: name.default('content'),
  noFallbackField: z.string().default(''),
  autoModeField: z.string().default(''),
  planModeField: z.string().default(''),
  listTasksProjectParam: name.default('project_id'),
  cursorParam: name.default('after_id'),
  cursorField: name.default('last_id'),
  messagesAfter: z.enum(['forward', 'backward']).default('forward'),
  uploadProjectField: name.default('project_id'),
  uploadFilenameField: name.default('filename'),
  uploadSizeField: name.default('size_bytes'),
  uploadMimeTypeField: name.default('mime_type'),
  uploadPurpose: z.string().default(''),
  uploadFileIdFields: z.array(name).min(1).default(['id', 'file_id', 'file.id']),
  uploadUrlFields: z.array(name).min(1).default(['upload_url', 'url', 'presigned_url']),
  uploadMethod: z.enum(['PUT', 'POST']).default('PUT'),
  uploadPartSizeField: name.default('part_size'),
  uploadHeadersField: name.default('headers'),
  firstPartNumber: z.int().min(0).max(1).default(1),
  partBytes: z
    .int()
    .min(5 * mebibyte)
    .max(1024 * mebibyte)
    .default(16 * mebibyte),
  mostParts: z.int().min(1).default(10_000),
  leastPartBytes: z
    .int()
    .min(1)
    .default(5 * mebibyte),
  expiredLinkStatuses: statuses.default([403]),
  finalizeUploadIdField: name.default('upload_id'),
  finalizePartsField: name.default('parts'),
  finalizePartNumberField: name.default('part_number'),
  finalizeEtagField: name.default('etag'),
  finalizeSingle: z.enum(['call', 'skip']).default('call'),
  finalizeDoneStatuses: statuses.default([404, 409]),
  fileContent: z.enum(['auto', 'bytes', 'link']).default('auto'),
  fileContentUrlFields: z.array(name).min(1).default(['download_url', 'url']),
  errorWords: z.array(name).default(['error.message', 'error', 'detail', 'message', 'title']),
  requestIdHeader: name.default('x-request-id'),
  badKeyStatuses: statuses.default([401, 403]),
  busyStatuses: statuses.default([409]),
});

/** The service's unshown names and shapes as this client takes them to be. */
export type Dialect = z.output<typeof dialectSchema>;

/** What can be asked of a new task beside its title and model: only what the dialect has a name for. */
export interface TaskOffers {
  /** Fail rather than use a fallback model. */
  readonly noFallback: boolean;
  /** Work without asking back. */
  readonly autoMode: boolean;
  /** Make a plan, and wait for a yes to it. */
  readonly planMode: boolean;
}

/** What a dialect offers. */
export function offersOf({ noFallbackField, autoModeField, planModeField }: Dialect): TaskOffers {
  return {
    noFallback: noFallbackField !== '',
    autoMode: autoModeField !== '',
    planMode: planModeField !== '',
  };
}

/** The guesses that hold where nothing is set. */
export const defaultDialect: Dialect = dialectSchema.parse({});

/** The value of AGENT_DIALECT: a JSON object of settings; absent or empty means the defaults. */
export const dialectSetting = z
  .string()
  .default('')
  .transform((text, context): unknown => {
    if (text.trim() === '') return {};
    try {
      return JSON.parse(text);
    } catch {
      context.issues.push({
        code: 'custom',
        input: '',
        message: 'AGENT_DIALECT must be a JSON object, for example {"cursorParam":"cursor"}',
      });
      return z.NEVER;
    }
  })
  .pipe(dialectSchema);
