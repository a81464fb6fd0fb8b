import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import express from 'express';
import { type Coding, encoder } from './odd-http.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import { ServiceRefusal } from './service-refusal.ts';
import type { DownloadTerms, LinkTerms, PartRef, Storage } from './storage.ts';
import { InvalidParts } from './storage.ts';

interface Part {
  path: string;
  size: number;
  etag: string;
}

interface SignedLink {
  method: 'GET' | 'PUT';
  key: string;
  uploadId?: string;
  part?: number;
  headers?: Record<string, string>;
  name?: string;
  mime?: string;
  expires: number;
}

export interface DiskStorageOptions {
  behaviour: ServiceBehaviour;
  /** Scheme, host and port of the server behind the links. */
  origin: string;
  /** Unix time in ms. */
  now: () => number;
}

/** Stores file contents in a temporary folder and serves its own signed links. */
export async function openDiskStorage(options: DiskStorageOptions): Promise<Storage> {
  return new DiskStorage(await mkdtemp(join(tmpdir(), 'agent-service-')), options);
}

class DiskStorage implements Storage {
  readonly router = express.Router();
  readonly #folder: string;
  readonly #options: DiskStorageOptions;
  readonly #secret = randomBytes(32);
  /** An object is one or more files, read in sequence: parts are never merged. */
  readonly #objects = new Map<string, string[]>();
  readonly #uploads = new Map<string, Map<number, Part>>();
  /** In which coding objects are kept, by key. */
  readonly #codings = new Map<string, Coding>();

  constructor(folder: string, options: DiskStorageOptions) {
    this.#folder = folder;
    this.#options = options;
    this.router.put('/storage/:kind/:grant', (request, response) => this.#put(request, response));
    this.router.get('/storage/:kind/:grant', (request, response) => this.#get(request, response));
  }

  async uploadLink(key: string, terms: LinkTerms): Promise<string> {
    return this.#link({ method: 'PUT', key, ...expiryOf(terms, this.#options.now()) });
  }

  async startMultipart(): Promise<string> {
    const uploadId = randomBytes(16).toString('hex');
    this.#uploads.set(uploadId, new Map());
    return uploadId;
  }

  async partLink(key: string, uploadId: string, part: number, terms: LinkTerms): Promise<string> {
    return this.#link({ method: 'PUT', key, uploadId, part, ...expiryOf(terms, this.#options.now()) });
  }

  async finish(key: string, uploadId: string, parts: readonly PartRef[], size: number): Promise<void> {
    const stored = this.#uploads.get(uploadId);
    if (stored === undefined) throw new InvalidParts('the upload does not exist');
    const paths: string[] = [];
    let sum = 0;
    for (const [index, { number, etag }] of parts.entries()) {
      const part = stored.get(number);
      if (part === undefined) throw new InvalidParts(`part ${number} was not uploaded`);
      if (part.etag !== etag) throw new InvalidParts(`the etag of part ${number} does not match`);
      if (index < parts.length - 1 && part.size < this.#options.behaviour.minPartSize) {
        throw new InvalidParts(`part ${number} is too small`);
      }
      paths.push(part.path);
      sum += part.size;
    }
    if (sum !== size) throw new InvalidParts(`the parts have ${sum} bytes, ${size} were announced`);
    this.#objects.set(key, paths);
    this.#uploads.delete(uploadId);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#newPath();
    const { storedCoding } = this.#options.behaviour;
    await writeFile(path, storedCoding === null ? bytes : Readable.from([bytes]).pipe(encoder(storedCoding)));
    this.#objects.set(key, [path]);
    if (storedCoding !== null) this.#codings.set(key, storedCoding);
  }

  async size(key: string): Promise<number | undefined> {
    const paths = this.#objects.get(key);
    if (paths === undefined) return undefined;
    const stats = await Promise.all(paths.map((path) => stat(path)));
    return stats.reduce((sum, { size }) => sum + size, 0);
  }

  async read(key: string): Promise<Readable> {
    return Readable.from(chunksOf(this.#objects.get(key) ?? []), { objectMode: false });
  }

  async downloadLink(key: string, terms: DownloadTerms): Promise<string> {
    const { name, mime } = terms;
    const link = this.#link({ method: 'GET', key, name, mime, ...expiryOf(terms, this.#options.now()) });
    const missing = this.#options.behaviour.downloadLinkLength - link.length - '&padding='.length;
    return missing > 0 ? `${link}&padding=${'x'.repeat(missing)}` : link;
  }

  async stop(): Promise<void> {
    // A part whose caller has gone may still be written.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  #newPath(): string {
    return join(this.#folder, randomBytes(12).toString('hex'));
  }

  #link(grant: SignedLink): string {
    const text = Buffer.from(JSON.stringify(grant)).toString('base64url');
    const kind = grant.method === 'GET' ? 'object' : grant.part === undefined ? 'upload' : 'part';
    return `${this.#options.origin}/storage/${kind}/${text}?signature=${this.#sign(text)}`;
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('hex');
  }

  /** The content of a signed link. @throws ServiceRefusal if the signature, expiry, method or headers are wrong */
  #grant(request: Request, method: SignedLink['method']): SignedLink {
    if (request.headers.authorization !== undefined) {
      throw new ServiceRefusal(400, 'A signed link takes no Authorization header');
    }
    const text = String(request.params.grant);
    const { signature } = request.query;
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const wanted = Buffer.from(this.#sign(text));
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      throw new ServiceRefusal(403, 'The signature does not match');
    }
    const grant: SignedLink = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (grant.method !== method) throw new ServiceRefusal(403, `The link is for ${grant.method}`);
    if (this.#options.now() >= grant.expires)
      throw new ServiceRefusal(this.#options.behaviour.expiredLinkStatus, 'The link has expired');
    for (const [name, value] of Object.entries(grant.headers ?? {})) {
      if (request.get(name) !== value) throw new ServiceRefusal(403, `Header ${name} is missing or wrong`);
    }
    return grant;
  }

  async #put(request: Request, response: Response): Promise<void> {
    const grant = this.#grant(request, 'PUT');
    if (request.get('content-length') === undefined)
      throw new ServiceRefusal(411, 'Content-Length is required');
    const parts = grant.uploadId === undefined ? undefined : this.#uploads.get(grant.uploadId);
    if (grant.uploadId !== undefined && parts === undefined) throw new ServiceRefusal(404, 'No such upload');
    const path = this.#newPath();
    const { size, md5 } = await store(request, path);
    const etag = { quoted: `"${md5}"`, bare: md5, weak: `W/"${md5}"` }[this.#options.behaviour.etag];
    if (parts !== undefined && grant.part !== undefined) {
      parts.set(grant.part, { path, size, etag });
    } else {
      this.#objects.set(grant.key, [path]);
    }
    response.status(200).setHeader('ETag', etag);
    response.end();
  }

  async #get(request: Request, response: Response): Promise<void> {
    const grant = this.#grant(request, 'GET');
    const size = await this.size(grant.key);
    if (size === undefined) throw new ServiceRefusal(404, 'No such object');
    response.attachment(grant.name ?? 'file');
    response.setHeader('Content-Type', grant.mime ?? 'application/octet-stream');
    response.setHeader('Content-Length', size);
    const coding = this.#codings.get(grant.key);
    if (coding !== undefined) response.setHeader('Content-Encoding', coding);
    await pipeline(await this.read(grant.key), response);
  }
}

function expiryOf({ lifeMs, headers }: LinkTerms, now: number): Pick<SignedLink, 'expires' | 'headers'> {
  return { expires: now + lifeMs, ...(headers === undefined ? {} : { headers }) };
}

/** Streams a request's body to disk. */
async function store(source: Readable, path: string): Promise<{ size: number; md5: string }> {
  const md5 = createHash('md5');
  let size = 0;
  const meter = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      md5.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  };
  await pipeline(source, meter, createWriteStream(path));
  return { size, md5: md5.digest('hex') };
}

async function* chunksOf(paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) yield* createReadStream(path);
}
