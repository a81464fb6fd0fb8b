import { z } from 'zod';
import { valueAt } from './error-body.ts';
import type { ServiceOptions } from './service-options.ts';
import { MAX_ID_LENGTH } from './service-schema.ts';

const headersSchema = z.record(z.string(), z.string());
/** Storages give long ones (characters). */
const MAX_UPLOAD_ID_LENGTH = 2_000;
const sizeSchema = z.int().positive();

/** What the service answered to the start of an upload. */
export interface StartedUpload {
  readonly fileId: string;
  /** Set for a multipart upload. */
  readonly uploadId: string | null;
  /** Where an upload in one piece goes. A secret. */
  readonly url: string | null;
  /** Bytes of a part, where the service gives them. */
  readonly partBytes: number | null;
  /** Headers that the storage wants with the bytes, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The schema of that answer, by the dialect's guesses. */
export function startedUploadSchema(serviceOptions: ServiceOptions) {
  return z
    .looseObject({
      upload_type: z.string().nullish(),
      upload_id: z.string().max(MAX_UPLOAD_ID_LENGTH).nullish(),
    })
    .transform((wire, context): StartedUpload => {
      const fileId = firstTextAt(wire, serviceOptions.uploadFileIdFields, MAX_ID_LENGTH);
      const multipart = wire.upload_type === 'multipart';
      const url = firstTextAt(wire, serviceOptions.uploadUrlFields);
      const uploadId = multipart ? (wire.upload_id ?? null) : null;
      const missing = fileId === null ? 'a file id' : multipart ? 'an upload_id' : 'an upload URL';
      if (fileId === null || (multipart ? uploadId : url) === null) {
        context.issues.push({
          code: 'custom',
          input: '',
          message: `${missing} is missing; see AGENT_DIALECT`,
        });
        return z.NEVER;
      }
      const partBytes = sizeSchema.safeParse(valueAt(wire, serviceOptions.uploadPartSizeField));
      const headers = headersSchema.safeParse(valueAt(wire, serviceOptions.uploadHeadersField));
      return {
        fileId,
        uploadId,
        url: multipart ? null : url,
        partBytes: partBytes.success ? partBytes.data : null,
        headers: headers.success ? withLowerCaseNames(headers.data) : {},
      };
    });
}

function withLowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function firstTextAt(
  wire: unknown,
  places: readonly string[],
  most = Number.POSITIVE_INFINITY,
): string | null {
  for (const place of places) {
    const value = valueAt(wire, place);
    if (typeof value === 'string' && value !== '' && value.length <= most) return value;
  }
  return null;
}
