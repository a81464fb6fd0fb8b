import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { SlackFile, Team } from './model.ts';
import type { World } from './world.ts';

/** An upload that files.getUploadURLExternal started. */
export interface Upload {
  team: Team;
  fileId: string;
  name: string;
  length: number;
  path: string;
  /** Whether all bytes have arrived. */
  complete: boolean;
}

const LOGIN_PAGE =
  '<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to continue</body></html>';

/** Serves downloads, with Slack's peculiarities, and receives uploads into a temporary folder. */
export class FileServer {
  readonly #world: World;
  readonly #mayRead: () => boolean;
  readonly #uploads = new Map<string, Upload>();
  #folder: string | undefined;

  /** `mayRead` returns whether the app has the scope files:read. */
  constructor(world: World, mayRead: () => boolean) {
    this.#world = world;
    this.#mayRead = mayRead;
  }

  /** Starts an upload of `length` bytes; returns its URL and the id of the future file. */
  startUpload(team: Team, name: string, length: number): { url: string; fileId: string } {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'sandbox-slack-'));
    const key = this.#world.ids.letters(32);
    const fileId = this.#world.ids.next('F');
    const path = join(this.#folder, fileId);
    this.#uploads.set(key, { team, fileId, name, length, path, complete: false });
    return { url: `${this.#world.baseUrl}/upload/v1/${key}`, fileId };
  }

  /** Removes and returns the upload of this file id, if it is complete. */
  finishUpload(team: Team, fileId: string): Upload | undefined {
    for (const [key, upload] of this.#uploads) {
      if (upload.fileId !== fileId || upload.team !== team || !upload.complete) continue;
      this.#uploads.delete(key);
      return upload;
    }
    return undefined;
  }

  /** Handles the POST of the raw bytes. */
  async receive(key: string, request: Request, response: Response): Promise<void> {
    const upload = this.#uploads.get(key);
    if (upload === undefined) {
      response.status(404).send('no such upload');
      return;
    }
    if (request.is('multipart/form-data')) {
      response.status(415).send('the app sends the bytes as they are');
      return;
    }
    let bytes = 0;
    await pipeline(
      request,
      async function* counted(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          yield chunk;
        }
      },
      createWriteStream(upload.path),
    );
    if (bytes !== upload.length) {
      response.status(400).send(`expected ${upload.length} bytes, received ${bytes}`);
      return;
    }
    upload.complete = true;
    response.type('text/plain').send(`OK - ${bytes}`);
  }

  /** Handles the GET of url_private or url_private_download. */
  async send(fileId: string, request: Request, response: Response): Promise<void> {
    const file = this.#world.files.get(fileId);
    const token = /^Bearer (.+)$/.exec(request.get('authorization') ?? '')?.[1];
    const team = this.#world.teams.get(file?.teamId ?? '');
    const holds =
      team?.installation.hasIssued(token ?? '') === true && !team.installation.isExpired(token ?? '');
    const allowed =
      team !== undefined &&
      holds &&
      team.installation.state === 'live' &&
      this.#mayRead() &&
      this.#sees(team, file);
    if (file === undefined || !allowed || file.kind === 'withheld') return loginPage(response, 200);
    if (file.kind === 'redirect')
      return loginPage(response, 302, `${this.#world.baseUrl}/?redir=%2Ffiles-pri`);
    if (file.kind === 'elsewhere' && request.query.origin === undefined)
      return response.redirect(302, '?origin=1');
    const gone = ['external', 'tombstone', 'hidden_by_limit', 'list', 'post'].includes(file.kind);
    if (gone || file.readyAt > this.#world.clock.now()) {
      response.status(404).type('text/html').send(LOGIN_PAGE);
      return;
    }
    await stream(file, request, response);
  }

  stop(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #sees(team: Team, file: SlackFile | undefined): boolean {
    if (file === undefined || file.teamId !== team.id) return false;
    if (file.user === team.bot.userId || file.givenToApp) return true;
    return file.shares.some((share) => {
      const channel = team.channels.get(share.channel);
      return channel?.kind === 'channel' || channel?.members.has(team.bot.userId);
    });
  }
}

function loginPage(response: Response, status: number, location?: string): void {
  response.status(status).set('x-slack-meta', '?;acl_fail');
  if (location !== undefined) response.set('location', location);
  response.type('text/html').send(LOGIN_PAGE);
}

/** Kinds that come as web pages, whatever their type. */
const WEB_PAGES = new Set<SlackFile['kind']>(['canvas', 'email', 'as_page']);

async function stream(file: SlackFile, request: Request, response: Response): Promise<void> {
  const { size } = file.content;
  const range = wanted(request.get('range'), size);
  if (range === undefined) {
    response.status(416).set('content-range', `bytes */${size}`).end();
    return;
  }
  const [start, end] = range;
  const partial = request.get('range') !== undefined;
  const lie = file.kind === 'lying_length' ? 1000 : 0;
  const breaks = file.kind === 'breaks_off' || file.kind === 'changes';
  const cutAt = breaks ? Math.min(end, start + Math.ceil(size / 3)) : end;
  const version = file.kind === 'changes' && start > 0 ? 'changed' : 'first';
  response.status(partial ? 206 : 200).set({
    'content-type': WEB_PAGES.has(file.kind) ? 'text/html; charset=utf-8' : file.mime,
    'content-length': String(end - start + lie),
    'accept-ranges': 'bytes',
    etag: `"${file.id}-${version}"`,
    ...(partial ? { 'content-range': `bytes ${start}-${end - 1}/${size}` } : {}),
  });
  if (lie > 0) {
    for await (const chunk of file.content.read(start, end)) response.write(chunk);
    response.socket?.end();
    return;
  }
  try {
    const bytes = Readable.from(file.content.read(start, cutAt), { objectMode: false });
    await pipeline(bytes, response, { end: cutAt === end });
    // The written bytes leave before the connection is cut.
    if (cutAt < end) setTimeout(() => response.destroy(), 20);
  } catch {
    response.destroy();
  }
}

/** The requested bytes as [start, end); undefined if the range is invalid. */
function wanted(header: string | undefined, size: number): [number, number] | undefined {
  if (header === undefined) return [0, size];
  const match = /^bytes=(\d*)-(\d*)$/.exec(header);
  if (match === null) return [0, size];
  const [, from = '', to = ''] = match;
  if (from === '') return [Math.max(0, size - Number(to)), size];
  const start = Number(from);
  const end = to === '' ? size : Math.min(size, Number(to) + 1);
  return start < end ? [start, end] : undefined;
}
