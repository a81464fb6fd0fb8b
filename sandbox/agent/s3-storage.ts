import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { DownloadTerms, LinkTerms, PartRef, S3Location, Storage } from './storage.ts';
import { InvalidParts } from './storage.ts';

/** Stores file contents in a bucket; the presigned links point at S3 itself. */
export function openS3Storage(place: S3Location): Storage {
  return new S3Storage(place);
}

class S3Storage implements Storage {
  readonly #client: S3Client;
  readonly #bucket: string;
  /** Separates services that share a bucket. */
  readonly #prefix = randomBytes(6).toString('hex');

  constructor({ endpoint, bucket, credentials, region = 'us-east-1' }: S3Location) {
    this.#bucket = bucket;
    this.#client = new S3Client({
      endpoint,
      region,
      credentials,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  uploadLink(key: string, terms: LinkTerms): Promise<string> {
    const command = new PutObjectCommand(this.#place(key));
    command.middlewareStack.add(withHeaders(terms.headers), { step: 'build' });
    return getSignedUrl(this.#client, command, signingOptions(terms));
  }

  async startMultipart(key: string): Promise<string> {
    const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(this.#place(key)));
    if (UploadId === undefined) throw new Error('S3 returned no upload id');
    return UploadId;
  }

  partLink(key: string, uploadId: string, part: number, terms: LinkTerms): Promise<string> {
    const input = { ...this.#place(key), UploadId: uploadId, PartNumber: part };
    const command = new UploadPartCommand(input);
    command.middlewareStack.add(withHeaders(terms.headers), { step: 'build' });
    return getSignedUrl(this.#client, command, signingOptions(terms));
  }

  async finish(key: string, uploadId: string, parts: readonly PartRef[]): Promise<void> {
    const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
    const input = { ...this.#place(key), UploadId: uploadId, MultipartUpload: { Parts } };
    try {
      await this.#client.send(new CompleteMultipartUploadCommand(input));
    } catch (error) {
      const refused = error instanceof S3ServiceException && (error.$metadata.httpStatusCode ?? 500) < 500;
      throw refused ? new InvalidParts(`${error.name}: ${error.message}`, { cause: error }) : error;
    }
  }

  async write(key: string, bytes: Uint8Array, mime: string): Promise<void> {
    const input = { ...this.#place(key), Body: bytes, ContentType: mime };
    await this.#client.send(new PutObjectCommand(input));
  }

  async size(key: string): Promise<number | undefined> {
    try {
      const { ContentLength } = await this.#client.send(new HeadObjectCommand(this.#place(key)));
      return ContentLength;
    } catch (error) {
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  }

  async read(key: string): Promise<Readable> {
    const { Body } = await this.#client.send(new GetObjectCommand(this.#place(key)));
    if (Body instanceof Readable) return Body;
    throw new Error('S3 returned no stream');
  }

  downloadLink(key: string, { name, mime, ...terms }: DownloadTerms): Promise<string> {
    // s3rver computes signatures for !'()* in a query differently from S3, so names omit them.
    const plain = name.replaceAll(/[^\x20-\x7e]|["\\!'()*]/g, '_');
    const input = {
      ...this.#place(key),
      ResponseContentType: mime,
      ResponseContentDisposition: `attachment; filename="${plain}"`,
    };
    return getSignedUrl(this.#client, new GetObjectCommand(input), signingOptions(terms));
  }

  async stop(): Promise<void> {
    this.#client.destroy();
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}/${key}` };
  }
}

/** Signing options of a link, with the headers that requests must send. */
function signingOptions({ lifeMs, headers = {} }: LinkTerms) {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return {
    expiresIn: Math.max(1, Math.ceil(lifeMs / 1000)),
    signableHeaders: new Set(['host', ...names]),
    unhoistableHeaders: new Set(names),
  };
}

/** SDK middleware that adds headers to a request before it is signed. */
function withHeaders(headers: Record<string, string> = {}) {
  return <Args extends { request: unknown }, Output>(next: (args: Args) => Promise<Output>) =>
    (args: Args): Promise<Output> => {
      if (hasHeaders(args.request)) Object.assign(args.request.headers, headers);
      return next(args);
    };
}

function hasHeaders(request: unknown): request is { headers: Record<string, string> } {
  return typeof request === 'object' && request !== null && 'headers' in request;
}
