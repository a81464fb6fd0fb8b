import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsClient } from 'aws4fetch';
import type { LinkTerms, S3Location, Storage } from './storage.ts';
import { InvalidParts } from './storage.ts';

type Query = Record<string, string>;

/** Stores file contents in a bucket; the presigned links point at S3 itself. */
export function openS3Storage({ endpoint, bucket, credentials }: S3Location): Storage {
  const client = new AwsClient({ ...credentials, service: 's3', region: 'us-east-1', retries: 0 });
  // Separates services that share a bucket.
  const prefix = randomBytes(6).toString('hex');
  const place = (key: string, query: Query) =>
    `${endpoint}/${bucket}/${prefix}/${key}?${new URLSearchParams(query).toString()}`;
  const call = (method: string, key: string, query: Query = {}, init: RequestInit = {}) =>
    client.fetch(place(key, query), { ...init, method });
  const link = async (
    method: string,
    key: string,
    { lifeMs, headers = {} }: LinkTerms,
    query: Query = {},
  ) => {
    const expires = { 'X-Amz-Expires': String(Math.max(1, Math.ceil(lifeMs / 1000))) };
    const terms = { method, headers, aws: { signQuery: true } };
    return (await client.sign(place(key, { ...query, ...expires }), terms)).url;
  };
  return {
    uploadLink: (key, terms) => link('PUT', key, terms),
    startMultipart: async (key) => {
      const [, id] =
        /<UploadId>(.+)<\/UploadId>/.exec(await textOf(call('POST', key, { uploads: '' }))) ?? [];
      if (id === undefined) throw new Error('S3 returned no upload id');
      return id;
    },
    partLink: (key, uploadId, part, terms) => link('PUT', key, terms, { uploadId, partNumber: String(part) }),
    finish: async (key, uploadId, parts) => {
      const named = parts.map(
        ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`,
      );
      const body = `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`;
      const response = await call('POST', key, { uploadId }, { body });
      if (response.status >= 400 && response.status < 500) throw new InvalidParts(await response.text());
      await textOf(response);
    },
    write: async (key, bytes, mime) => {
      await textOf(call('PUT', key, {}, { body: Buffer.from(bytes), headers: { 'content-type': mime } }));
    },
    size: async (key) => {
      const response = await call('HEAD', key);
      if (response.status === 404) return undefined;
      await textOf(response);
      return Number(response.headers.get('content-length'));
    },
    read: async (key) => {
      const response = await call('GET', key);
      if (!response.ok || response.body === null) throw new Error(`S3 answered ${response.status}`);
      return Readable.fromWeb(response.body);
    },
    downloadLink: (key, { name, mime, ...terms }) => {
      // s3rver computes signatures for !'()* in a query differently from S3, so names omit them.
      const plain = name.replaceAll(/[^\x20-\x7e]|["\\!'()*]/g, '_');
      return link('GET', key, terms, {
        'response-content-type': mime,
        'response-content-disposition': `attachment; filename="${plain}"`,
      });
    },
    stop: async () => undefined,
  };
}

/** The body of a successful response. @throws with that of any other */
async function textOf(response: Response | Promise<Response>): Promise<string> {
  const { ok, status } = await response;
  const text = await (await response).text();
  if (!ok) throw new Error(`S3 answered ${status}: ${text}`);
  return text;
}
