import { z } from 'zod';
import { parseJson } from '../calls/json.ts';

export const MEBIBYTE = 1024 * 1024;
const nameSchema = z.string().min(1);
const statusesSchema = z.array(z.int().min(400).max(499));

/**
 * Every name and shape that the service's document leaves open, as the setting AGENT_DIALECT. No other code makes an
 * assumption. A field with an empty name is not sent. The schema is strict, so a misspelt setting is an error.
 */
export const serviceOptionsSchema = z.strictObject({
  /** Path of Send a message; `{task_id}` is replaced. */
  sendMessagePath: z
    .string()
    .regex(/^\/.*\{task_id\}/, 'must start with / and hold {task_id}')
    .default('/experimental/tasks/{task_id}/messages'),
  noFallbackField: z.string().default(''),
  autoModeField: z.string().default(''),
  planModeField: z.string().default(''),
  listTasksProjectParam: nameSchema.default('project_id'),
  cursorParam: nameSchema.default('after_id'),
  cursorField: nameSchema.default('last_id'),
  messagesAfter: z.enum(['forward', 'backward']).default('forward'),
  uploadProjectField: nameSchema.default('project_id'),
  uploadFilenameField: nameSchema.default('filename'),
  uploadSizeField: nameSchema.default('size_bytes'),
  uploadMimeTypeField: nameSchema.default('mime_type'),
  uploadPurpose: z.string().default(''),
  uploadFileIdFields: z.array(nameSchema).min(1).default(['id', 'file_id', 'file.id']),
  uploadUrlFields: z.array(nameSchema).min(1).default(['upload_url', 'url', 'presigned_url']),
  uploadMethod: z.enum(['PUT', 'POST']).default('PUT'),
  uploadPartSizeField: nameSchema.default('part_size'),
  uploadHeadersField: nameSchema.default('headers'),
  firstPartNumber: z.int().min(0).max(1).default(1),
  partBytes: z
    .int()
    .min(5 * MEBIBYTE)
    .max(1024 * MEBIBYTE)
    .default(16 * MEBIBYTE),
  mostParts: z.int().min(1).default(10_000),
  leastPartBytes: z
    .int()
    .min(1)
    .default(5 * MEBIBYTE),
  expiredLinkStatuses: statusesSchema.default([400, 401, 403, 410]),
  finalizeUploadIdField: nameSchema.default('upload_id'),
  finalizePartsField: nameSchema.default('parts'),
  finalizePartNumberField: nameSchema.default('part_number'),
  finalizeEtagField: nameSchema.default('etag'),
  finalizeSingle: z.enum(['call', 'skip']).default('call'),
  finalizeDoneStatuses: statusesSchema.default([404, 409]),
  fileContentUrlFields: z.array(nameSchema).min(1).default(['download_url', 'url']),
  errorWords: z
    .array(nameSchema)
    .default(['error.message', 'error', 'detail', 'detail.message', 'message', 'title']),
  requestIdHeader: nameSchema.default('x-request-id'),
  badKeyStatuses: statusesSchema.default([401, 403]),
  busyStatuses: statusesSchema.default([409]),
});

export type ServiceOptions = z.output<typeof serviceOptionsSchema>;

/** Which options of a new task AGENT_DIALECT has a field name for. */
export function supportedTaskOptions({ noFallbackField, autoModeField, planModeField }: ServiceOptions) {
  return {
    noFallback: noFallbackField !== '',
    autoMode: autoModeField !== '',
    planMode: planModeField !== '',
  };
}

export type SupportedTaskOptions = Readonly<ReturnType<typeof supportedTaskOptions>>;

export const DEFAULT_SERVICE_OPTIONS: ServiceOptions = serviceOptionsSchema.parse({});

/** Parses AGENT_DIALECT: a JSON object of settings; empty for the defaults. */
export const agentDialectSetting = z
  .string()
  .default('')
  .transform((text) => parseJson(text.trim() || '{}'))
  .refine((value) => value !== undefined, 'must be a JSON object, for example {"cursorParam":"cursor"}')
  .pipe(serviceOptionsSchema);
