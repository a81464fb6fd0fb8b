import type { Readable } from 'node:stream';
import type { Router } from 'express';

/** One part as the client names it at the end of a multipart upload. */
export interface PartRef {
  number: number;
  etag: string;
}

/** What a link stands for, and for how long. */
export interface LinkTerms {
  /** Lifetime, ms. */
  lifeMs: number;
  /** Headers that a request over the link must carry, besides what the protocol needs. */
  headers?: Record<string, string>;
}

export interface DownloadTerms extends LinkTerms {
  name: string;
  mime: string;
}

/** The parts named at the end of an upload do not make a file. */
export class InvalidParts extends Error {
  override readonly name = 'BadParts';
}

/** Where uploaded bytes and results live. Links are signed, time-limited and need no other credential. */
export interface Storage {
  uploadLink(key: string, terms: LinkTerms): Promise<string>;
  startMultipart(key: string): Promise<string>;
  partLink(key: string, uploadId: string, part: number, terms: LinkTerms): Promise<string>;
  /** Puts the parts together, which should make `size` bytes; throws `BadParts`. */
  finish(key: string, uploadId: string, parts: readonly PartRef[], size: number): Promise<void>;
  write(key: string, bytes: Uint8Array, mime: string): Promise<void>;
  /** Bytes stored under the key; `undefined` where there is nothing. */
  size(key: string): Promise<number | undefined>;
  read(key: string): Promise<Readable>;
  downloadLink(key: string, terms: DownloadTerms): Promise<string>;
  /** Answers the links where they point at this server. */
  readonly router?: Router;
  stop(): Promise<void>;
}

/** An S3 bucket to keep the bytes in. */
export interface S3Location {
  endpoint: string;
  bucket: string;
  region?: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}
