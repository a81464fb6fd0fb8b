import type { Readable } from 'node:stream';
import type { Router } from 'express';

/** A part as the client names it to complete a multipart upload. */
export interface PartRef {
  number: number;
  etag: string;
}

/** The lifetime and required headers of a link. */
export interface LinkTerms {
  /** Lifetime, ms. */
  lifeMs: number;
  /** Headers that requests must send. */
  headers?: Record<string, string>;
}

export interface DownloadTerms extends LinkTerms {
  name: string;
  mime: string;
}

/** The named parts cannot be joined to the announced file. */
export class InvalidParts extends Error {
  override readonly name = 'InvalidParts';
}

/** Stores uploads and results. Links are signed, expire and need no other credential. */
export interface Storage {
  uploadLink(key: string, terms: LinkTerms): Promise<string>;
  startMultipart(key: string): Promise<string>;
  partLink(key: string, uploadId: string, part: number, terms: LinkTerms): Promise<string>;
  /** Joins the parts into a file of `size` bytes. @throws InvalidParts */
  finish(key: string, uploadId: string, parts: readonly PartRef[], size: number): Promise<void>;
  write(key: string, bytes: Uint8Array, mime: string): Promise<void>;
  /** Bytes stored under the key; undefined if there are none. */
  size(key: string): Promise<number | undefined>;
  read(key: string): Promise<Readable>;
  downloadLink(key: string, terms: DownloadTerms): Promise<string>;
  /** Serves the links, if they point at this server. */
  readonly router?: Router;
  stop(): Promise<void>;
}

/** An S3 bucket and its credentials. */
export interface S3Location {
  endpoint: string;
  bucket: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
}
