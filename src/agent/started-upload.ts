import { z } from 'zod';
import { firstTextAt, valueAt } from './json-path.ts';
import type { ServiceOptions } from './service-options.ts';
import { MAX_ID_LENGTH } from './service-schema.ts';

const headersSchema = z.record(z.string().toLowerCase(), z.string()).catch({});
/** S3-compatible storage uses long ids (characters). */
const MAX_UPLOAD_ID_LENGTH = 2_000;
const sizeSchema = z.int().positive().nullable().catch(null);

export interface StartedUpload {
  readonly fileId: string;
  /** Null for an upload in one piece. */
  readonly uploadId: string | null;
  /** The link for an upload in one piece. A secret. */
  readonly url: string | null;
  /** Bytes of a part, if the service says so. */
  readonly partBytes: number | null;
  /** Headers that the storage requires with the bytes, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The schema of that response. AGENT_DIALECT names its fields. */
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
          message: `${missing} is missing; name its field in AGENT_DIALECT`,
        });
        return z.NEVER;
      }
      return {
        fileId,
        uploadId,
        url: multipart ? null : url,
        partBytes: sizeSchema.parse(valueAt(wire, serviceOptions.uploadPartSizeField)),
        headers: headersSchema.parse(valueAt(wire, serviceOptions.uploadHeadersField)),
      };
    });
}
