import { z } from 'zod';
import { firstTextAt, valueAt } from '../calls/json.ts';
import type { ServiceOptions } from './service-options.ts';
import { MAX_ID_LENGTH, MAX_LINK_LENGTH } from './service-schema.ts';

const headersSchema = z.record(z.string().toLowerCase(), z.string()).catch({});
/** Characters of all headers that go with each part: they are recorded, and storages accept no more. */
const MAX_HEADERS_LENGTH = 8 * 1024;
/** S3-compatible storage uses long ids (characters). */
const MAX_UPLOAD_ID_LENGTH = 2_000;
const sizeSchema = z.int().positive().nullable().catch(null);

export interface StartedUpload {
  readonly fileId: string;
  /** Null for an upload in one piece. */
  readonly uploadId: string | null;
  /** The link for an upload in one piece. A secret. */
  readonly url: string | null;
  /** Bytes of a part, if the service says so; no fewer than S3 accepts. */
  readonly partBytes: number | null;
  /** Headers that the storage requires with the bytes, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The schema of that response. AGENT_DIALECT names its fields. */
export function startedUploadSchema(serviceOptions: ServiceOptions) {
  return z
    .looseObject({
      upload_type: z.unknown().optional(),
      upload_id: z.string().min(1).max(MAX_UPLOAD_ID_LENGTH).nullable().catch(null),
    })
    .transform((wire, context): StartedUpload => {
      const fileId = firstTextAt(wire, serviceOptions.uploadFileIdFields, MAX_ID_LENGTH);
      const url = firstTextAt(wire, serviceOptions.uploadUrlFields, MAX_LINK_LENGTH);
      const multipart = wire.upload_type === 'multipart' || (url === null && wire.upload_id !== null);
      const uploadId = multipart ? wire.upload_id : null;
      const missing = fileId === null ? 'a file id' : multipart ? 'an upload_id' : 'an upload URL';
      const partBytes = sizeSchema.parse(valueAt(wire, serviceOptions.uploadPartSizeField));
      const headers = headersSchema.parse(valueAt(wire, serviceOptions.uploadHeadersField));
      const refuse = (message: string) => {
        context.issues.push({ code: 'custom', input: '', message });
        return z.NEVER;
      };
      if (fileId === null || (multipart ? uploadId : url) === null)
        return refuse(`${missing} is missing; name its field in AGENT_DIALECT`);
      if (Object.entries(headers).flat().join('').length > MAX_HEADERS_LENGTH)
        return refuse(`the headers for the storage have more than ${MAX_HEADERS_LENGTH} characters`);
      return {
        fileId,
        uploadId,
        url: multipart ? null : url,
        partBytes: partBytes && Math.max(partBytes, serviceOptions.leastPartBytes),
        headers,
      };
    });
}
