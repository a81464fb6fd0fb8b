import { AgentError, AgentRejectedError } from '../../agent/errors.ts';
import type { FileLimits, FileProgress } from '../../reply/file-lines.ts';
import type { FileReason } from '../../reply/words.ts';
import { FileRefused } from '../../slack/errors.ts';
import { externalLink, nameOf, type SlackFile, slackFile } from '../../slack/files.ts';
import type { FileNote, Thread, Turn, Words } from '../../store/tables.ts';
import { messageKeyOf } from '../../store/turns.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { TurnEnds } from '../interruption.ts';
import type { Lease } from '../lease.ts';
import { allOver, checkpoint } from '../patience.ts';
import { fileName } from './file-name.ts';
import { isTaken } from './file-types.ts';
import { FileUpload } from './file-upload.ts';

/** Files of one message that are on their way at the same time. */
const mostAtOnce = 3;
/** What a file without a name is called. */
export const unnamed = 'unnamed file';
/** How often it is checked whether people still want the upload (ms). */
const lookEveryMs = 1_000;

/** What became of a message's files. */
export interface Attachments {
  /** The service's file ids that go with the message. */
  attached: string[];
  /** One note a file, in the message's order; those without a reason are in the order of `attached`. */
  notes: FileNote[];
  bytesUp: number;
}

/** Hears where each of the message's files is, whenever that changes. */
export type UploadProgress = (files: readonly FileProgress[]) => void;

/** The files of a message, in order and each once; what is not a file object at all is passed over. */
export function filesIn(words: Words): SlackFile[] {
  const files = new Map<string, SlackFile>();
  for (const raw of words.files ?? []) {
    const parsed = slackFile.safeParse(raw);
    if (parsed.success && !files.has(parsed.data.id)) files.set(parsed.data.id, parsed.data);
  }
  return [...files.values()];
}

/** What an upload of a message's files needs. */
export interface AttachmentsRequest {
  parts: RelayParts;
  workspace: Workspace;
  thread: Thread;
  turn: Turn;
  projectId: string;
  words: Words;
  lease: Lease;
  /** Ends the upload; its reason is thrown. */
  stop: AbortSignal;
  onProgress: UploadProgress;
}

/**
 * Brings a message's files to the service, streaming, a few at once. A file that cannot be had is noted with its
 * reason and the others go on. Throws what passes by itself (the service or Slack is away): call it again, what was
 * uploaded is not uploaded twice. Throws TurnEnds where people do not want it any more.
 */
export async function uploadAttachments(request: AttachmentsRequest): Promise<Attachments> {
  const { lease, stop } = request;
  const unwanted = new AbortController();
  const signal = AbortSignal.any([lease.signal, lease.draining, unwanted.signal, stop]);
  const timer = setInterval(() => {
    stillWanted(request).catch((error: unknown) => {
      if (error instanceof TurnEnds) unwanted.abort(error);
    });
  }, lookEveryMs);
  try {
    return await new Batch(request, signal).go();
  } catch (error) {
    checkpoint(lease);
    unwanted.signal.throwIfAborted();
    stop.throwIfAborted();
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Throws TurnEnds where the message was taken back, or the turn stopped. */
async function stillWanted({ parts, turn }: AttachmentsRequest): Promise<void> {
  const current = await parts.store.turns.get(turn.workspace, turn.id);
  if (current?.stop_asked_at != null) throw new TurnEnds('cancelled', null);
  const message = await parts.store.messages.get(messageKeyOf(turn));
  if (message?.state === 'withdrawn') throw new TurnEnds('withdrawn', null);
}

interface Item {
  file: SlackFile;
  progress: FileProgress;
  fileId?: string;
  note?: FileNote;
}

/** The files of one message on their way. */
class Batch {
  readonly #request: AttachmentsRequest;
  readonly #limits: FileLimits;
  readonly #signal: AbortSignal;
  readonly #items: Item[];
  #promisedBytes = 0;
  #bytesUp = 0;
  #failed = false;

  constructor(request: AttachmentsRequest, signal: AbortSignal) {
    this.#request = request;
    this.#limits = request.parts.settings.files;
    this.#signal = signal;
    this.#items = filesIn(request.words).map((file) => ({
      file,
      progress: { state: 'waiting', name: shownName(file), ...sizeOf(file) },
    }));
  }

  async go(): Promise<Attachments> {
    this.#tell();
    const left = [...this.#items.entries()];
    const worker = async () => {
      for (let next = left.shift(); next !== undefined && !this.#failed; next = left.shift()) {
        const [index, item] = next;
        try {
          await this.#bring(item, index);
        } catch (error) {
          this.#failed = true;
          throw error;
        }
      }
    };
    await allOver(Array.from({ length: mostAtOnce }, worker));
    return {
      attached: this.#items.flatMap(({ fileId }) => fileId ?? []),
      notes: this.#items.flatMap(({ note }) => note ?? []),
      bytesUp: this.#bytesUp,
    };
  }

  /** Brings one file; what cannot be had becomes a note. */
  async #bring(item: Item, index: number): Promise<void> {
    const { turn, parts } = this.#request;
    try {
      if (index >= this.#limits.messageFiles) return this.#leaveOut(item, { reason: 'too_many' });
      const { sizeBytes } = await this.#upload(item);
      this.#over(item, { name: shownName(item.file), reason: null, sizeBytes });
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      parts.log.info({ turn: turn.id, file: item.file.id, reason: reason.reason }, 'file left out');
      const link = reason.reason === 'external' ? externalLink(item.file) : undefined;
      this.#leaveOut(item, { ...reason, ...(link === undefined ? {} : { link }) });
    }
  }

  async #upload(item: Item): Promise<{ sizeBytes: number }> {
    const { workspace, parts, turn, thread, projectId } = this.#request;
    const { file, verdict } = await workspace.downloads.look(item.file, {
      signal: this.#signal,
      onWait: () => this.#show(item, { state: 'processing', name: shownName(item.file) }),
    });
    item.file = file;
    if (verdict.do === 'refuse') throw new FileRefused(file.id, verdict.reason);
    const mime = verdict.mime ?? '';
    const name = fileName(nameOf(file), file.id);
    if (!isTaken({ name, mime }, this.#limits)) throw new LeftOut('type_refused');
    const sizeBytes = verdict.sizeBytes ?? (await this.#sizeOf(file));
    if (this.#promisedBytes + sizeBytes > this.#limits.messageBytes) throw new LeftOut('message_full');
    this.#promisedBytes += sizeBytes;
    const upload = new FileUpload(parts, workspace, {
      account: thread.account,
      turn,
      projectId,
      file,
      name,
      mime,
      sizeBytes,
      lease: this.#request.lease,
      signal: this.#signal,
      onElsewhere: () => this.#show(item, { state: 'elsewhere', name: shownName(file), sizeBytes }),
      onProgress: (sentBytes) =>
        this.#show(item, { state: 'moving', name: shownName(file), sizeBytes, sentBytes }),
    });
    const { fileId, sentBytes } = await upload.go();
    item.fileId = fileId;
    this.#bytesUp += sentBytes;
    return { sizeBytes };
  }

  /** A file whose size Slack's record does not tell: the answer to a download may. */
  async #sizeOf(file: SlackFile): Promise<number> {
    const opened = await this.#request.workspace.downloads.open(file, { signal: this.#signal });
    opened.leave();
    if (opened.sizeBytes === undefined) throw new FileRefused(file.id, 'processing');
    return opened.sizeBytes;
  }

  #leaveOut(item: Item, why: { reason: FileReason; detail?: string; link?: string }): void {
    this.#over(item, { name: shownName(item.file), ...why, ...sizeOf(item.file) });
  }

  #over(item: Item, note: FileNote): void {
    item.note = note;
    this.#show(item, { state: 'over', outcome: note });
  }

  #show(item: Item, progress: FileProgress): void {
    item.progress = progress;
    this.#tell();
  }

  #tell(): void {
    this.#request.onProgress(this.#items.map(({ progress }) => progress));
  }
}

/** A limit of ours says no. */
class LeftOut extends Error {
  readonly reason: FileReason;

  constructor(reason: FileReason) {
    super(`The file is left out: ${reason}.`);
    this.reason = reason;
  }
}

/** Why a file was left out; undefined for an error that is not about the file. */
function reasonOf(error: unknown): { reason: FileReason; detail?: string } | undefined {
  if (error instanceof FileRefused || error instanceof LeftOut) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.words };
  if (error instanceof AgentError && error.code === 'wrong_size') return { reason: 'changed' };
  if (error instanceof AgentError && error.cause instanceof FileRefused)
    return { reason: error.cause.reason };
  return undefined;
}

function shownName(file: SlackFile): string {
  return nameOf(file) ?? unnamed;
}

function sizeOf(file: SlackFile): { sizeBytes?: number } {
  return typeof file.size === 'number' ? { sizeBytes: file.size } : {};
}

/** Notes on files that were sent but that the service did not read: they are missing in what the reply answers. */
export function skippedNotes(turn: Turn, readFileIds: readonly string[] | null): FileNote[] {
  const notes = turn.file_notes ?? [];
  if (readFileIds === null) return notes;
  const sent = turn.attached ?? [];
  let index = 0;
  return notes.map((note) => {
    if (note.reason !== null) return note;
    const fileId = sent[index];
    index += 1;
    if (fileId === undefined || readFileIds.includes(fileId)) return note;
    return { ...note, reason: 'skipped' satisfies FileReason };
  });
}
