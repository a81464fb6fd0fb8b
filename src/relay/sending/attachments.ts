import { AgentError, AgentRejectedError } from '../../agent/errors.ts';
import type { FileProgress } from '../../render/messages/file-lines.ts';
import type { FileLimits, FileReason } from '../../render/strings/index.ts';
import { FileRefusedError } from '../../slack/errors.ts';
import { externalLink, type SlackFile, slackFileName, slackFileSchema } from '../../slack/shared-file.ts';
import type { FileNote, MessageContent, Thread, Turn } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { allSettledOrThrow, throwIfInterrupted } from '../runtime/retry.ts';
import { TurnEnded } from '../runtime/turn-errors.ts';
import { serviceFileName } from './file-name.ts';
import { isTypeAllowed } from './file-types.ts';
import { FileUpload } from './file-upload.ts';

/** Files of one message that are on their way at the same time. */
const MAX_CONCURRENT_UPLOADS = 3;
/** What a file without a name is called. */
export const UNNAMED_FILE = 'unnamed file';
/** How often it is checked whether people still want the upload (ms). */
const WANTED_CHECK_INTERVAL_MS = 1_000;

/** What became of a message's files. */
export interface Attachments {
  /** The service's file ids that go with the message. */
  attached: string[];
  /** One note a file, in the message's order; those without a reason are in the order of `attached`. */
  notes: FileNote[];
  uploadedBytes: number;
}

/** Hears where each of the message's files is, whenever that changes. */
export type UploadProgressListener = (files: readonly FileProgress[]) => void;

/** The files of a message, in order and each once; what is not a file object at all is passed over. */
export function filesOf(content: MessageContent): SlackFile[] {
  const files = new Map<string, SlackFile>();
  for (const raw of content.files ?? []) {
    const parsed = slackFileSchema.safeParse(raw);
    if (parsed.success && !files.has(parsed.data.id)) files.set(parsed.data.id, parsed.data);
  }
  return [...files.values()];
}

/** What an upload of a message's files needs. */
export interface AttachmentsUploadRequest {
  deps: RelayDeps;
  workspace: WorkspaceClient;
  thread: Thread;
  turn: Turn;
  projectId: string;
  content: MessageContent;
  lease: Lease;
  /** Ends the upload; its reason is thrown. */
  stopSignal: AbortSignal;
  onProgress: UploadProgressListener;
}

/**
 * Brings a message's files to the service, streaming, a few at once. A file that cannot be had is noted with its
 * reason and the others go on. Throws what passes by itself (the service or Slack is away): call it again, what was
 * uploaded is not uploaded twice. Throws TurnEnds where people do not want it any more.
 */
export async function uploadAttachments(request: AttachmentsUploadRequest): Promise<Attachments> {
  const { lease, stopSignal } = request;
  const unwanted = new AbortController();
  const signal = AbortSignal.any([lease.signal, lease.draining, unwanted.signal, stopSignal]);
  const timer = setInterval(() => {
    throwIfUnwanted(request).catch((error: unknown) => {
      if (error instanceof TurnEnded) unwanted.abort(error);
    });
  }, WANTED_CHECK_INTERVAL_MS);
  try {
    return await new AttachmentBatch(request, signal).run();
  } catch (error) {
    throwIfInterrupted(lease);
    unwanted.signal.throwIfAborted();
    stopSignal.throwIfAborted();
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Throws TurnEnds where the message was taken back, or the turn stopped. */
async function throwIfUnwanted({ deps, turn }: AttachmentsUploadRequest): Promise<void> {
  const current = await deps.store.turns.get(turn.workspace, turn.id);
  if (current?.stop_asked_at != null) throw new TurnEnded('cancelled', null);
  const message = await deps.store.messages.get(messageKeyOf(turn));
  if (message?.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
}

interface AttachmentItem {
  file: SlackFile;
  progress: FileProgress;
  fileId?: string;
  note?: FileNote;
}

/** The files of one message on their way. */
class AttachmentBatch {
  readonly #request: AttachmentsUploadRequest;
  readonly #limits: FileLimits;
  readonly #signal: AbortSignal;
  readonly #items: AttachmentItem[];
  #promisedBytes = 0;
  #uploadedBytes = 0;
  #hasFailed = false;

  constructor(request: AttachmentsUploadRequest, signal: AbortSignal) {
    this.#request = request;
    this.#limits = request.deps.settings.fileLimits;
    this.#signal = signal;
    this.#items = filesOf(request.content).map((file) => ({
      file,
      progress: { state: 'waiting', name: displayName(file), ...declaredSize(file) },
    }));
  }

  async run(): Promise<Attachments> {
    this.#reportProgress();
    const left = [...this.#items.entries()];
    const worker = async () => {
      for (let next = left.shift(); next !== undefined && !this.#hasFailed; next = left.shift()) {
        const [index, item] = next;
        try {
          await this.#process(item, index);
        } catch (error) {
          this.#hasFailed = true;
          throw error;
        }
      }
    };
    await allSettledOrThrow(Array.from({ length: MAX_CONCURRENT_UPLOADS }, worker));
    return {
      attached: this.#items.flatMap(({ fileId }) => fileId ?? []),
      notes: this.#items.flatMap(({ note }) => note ?? []),
      uploadedBytes: this.#uploadedBytes,
    };
  }

  /** Brings one file; what cannot be had becomes a note. */
  async #process(item: AttachmentItem, index: number): Promise<void> {
    const { turn, deps } = this.#request;
    try {
      if (index >= this.#limits.maxMessageFiles) return this.#leaveOut(item, { reason: 'too_many' });
      const { sizeBytes } = await this.#upload(item);
      this.#finish(item, { name: displayName(item.file), reason: null, sizeBytes });
    } catch (error) {
      const reason = leftOutReason(error);
      if (reason === undefined) throw error;
      deps.log.info({ turn: turn.id, file: item.file.id, reason: reason.reason }, 'file left out');
      const link = reason.reason === 'external' ? externalLink(item.file) : undefined;
      this.#leaveOut(item, { ...reason, ...(link === undefined ? {} : { link }) });
    }
  }

  async #upload(item: AttachmentItem): Promise<{ sizeBytes: number }> {
    const { workspace, deps, turn, thread, projectId } = this.#request;
    const { file, decision: verdict } = await workspace.downloads.resolve(item.file, {
      signal: this.#signal,
      onWait: () => this.#setProgress(item, { state: 'processing', name: displayName(item.file) }),
    });
    item.file = file;
    if (verdict.do === 'refuse') throw new FileRefusedError(file.id, verdict.reason);
    const mime = verdict.mime ?? '';
    const name = serviceFileName(slackFileName(file), file.id);
    if (!isTypeAllowed({ name, mime }, this.#limits)) throw new FileLeftOut('type_refused');
    const sizeBytes = verdict.sizeBytes ?? (await this.#probeSize(file));
    if (this.#promisedBytes + sizeBytes > this.#limits.maxMessageBytes) throw new FileLeftOut('message_full');
    this.#promisedBytes += sizeBytes;
    const upload = new FileUpload(deps, workspace, {
      account: thread.account,
      turn,
      projectId,
      file,
      name,
      mime,
      sizeBytes,
      lease: this.#request.lease,
      signal: this.#signal,
      onUploadedElsewhere: () =>
        this.#setProgress(item, { state: 'elsewhere', name: displayName(file), sizeBytes }),
      onProgress: (sentBytes) =>
        this.#setProgress(item, { state: 'moving', name: displayName(file), sizeBytes, sentBytes }),
    });
    const { fileId, sentBytes } = await upload.run();
    item.fileId = fileId;
    this.#uploadedBytes += sentBytes;
    return { sizeBytes };
  }

  /** A file whose size Slack's record does not tell: the answer to a download may. */
  async #probeSize(file: SlackFile): Promise<number> {
    const opened = await this.#request.workspace.downloads.open(file, { signal: this.#signal });
    opened.release();
    if (opened.sizeBytes === undefined) throw new FileRefusedError(file.id, 'processing');
    return opened.sizeBytes;
  }

  #leaveOut(item: AttachmentItem, outcome: { reason: FileReason; detail?: string; link?: string }): void {
    this.#finish(item, { name: displayName(item.file), ...outcome, ...declaredSize(item.file) });
  }

  #finish(item: AttachmentItem, note: FileNote): void {
    item.note = note;
    this.#setProgress(item, { state: 'over', outcome: note });
  }

  #setProgress(item: AttachmentItem, progress: FileProgress): void {
    item.progress = progress;
    this.#reportProgress();
  }

  #reportProgress(): void {
    this.#request.onProgress(this.#items.map(({ progress }) => progress));
  }
}

/** A limit of ours says no. */
class FileLeftOut extends Error {
  readonly reason: FileReason;

  constructor(reason: FileReason) {
    super(`The file is left out: ${reason}.`);
    this.reason = reason;
  }
}

/** Why a file was left out; undefined for an error that is not about the file. */
function leftOutReason(error: unknown): { reason: FileReason; detail?: string } | undefined {
  if (error instanceof FileRefusedError || error instanceof FileLeftOut) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.words };
  if (error instanceof AgentError && error.code === 'wrong_size') return { reason: 'changed' };
  if (error instanceof AgentError && error.cause instanceof FileRefusedError)
    return { reason: error.cause.reason };
  return undefined;
}

function displayName(file: SlackFile): string {
  return slackFileName(file) ?? UNNAMED_FILE;
}

function declaredSize(file: SlackFile): { sizeBytes?: number } {
  return typeof file.size === 'number' ? { sizeBytes: file.size } : {};
}

/** Notes on files that were sent but that the service did not read: they are missing in what the reply answers. */
export function withSkippedFiles(turn: Turn, readFileIds: readonly string[] | null): FileNote[] {
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
