import { Readable } from 'node:stream';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { anySignal } from '../../calls/waits.ts';
import type { FileProgress } from '../../render/messages/file-lines.ts';
import type { FileLimits, FileReason } from '../../render/strings/index.ts';
import {
  externalLink,
  FileRefusedError,
  FileUnavailableError,
  type SlackFile,
  slackFileName,
} from '../../slack/shared-file.ts';
import type { FileNote, Thread, Turn } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { maySeeFile } from '../access/linked-content-access.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { FailingTime } from '../runtime/patience.ts';
import { allSettledOrThrow, throwIfInterrupted } from '../runtime/retry.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { projectExists } from './channel-project.ts';
import { isTypeAllowed, UNNAMED_FILE } from './file-refusals.ts';
import { serviceFileName, type UploadSource, uploadSharedFile } from './file-upload.ts';
import type { SharedItem } from './shared-items.ts';

/** How many files of one message are uploaded at a time. */
const MAX_CONCURRENT_UPLOADS = 3;
/** How often an upload checks whether its message was deleted or its turn stopped (ms). */
const WANTED_CHECK_INTERVAL_MS = 1_000;

/** The outcome for a message's files and tables. */
export interface Attachments {
  /** The service's ids of the files that are sent with the message. */
  attached_file_ids: string[];
  /** One note for each file, in the message's order. The notes without a reason are in the order of `attached`. */
  notes: FileNote[];
  uploadedBytes: number;
}

/** Called with the state of all the message's files whenever one changes. */
export type UploadProgressListener = (files: readonly FileProgress[]) => void;

/** What uploading a message's files needs. */
export interface AttachmentsUploadRequest extends ThreadWork {
  thread: Thread;
  turn: Turn;
  projectId: string;
  items: readonly SharedItem[];
  /** How long each file could not be fetched, by id, over the attempts of one run. */
  failing: Map<string, FailingTime>;
  /** Ends the upload. Its reason is thrown. */
  stopSignal: AbortSignal;
  onProgress: UploadProgressListener;
}

/**
 * Streams a message's files from Slack to the service, a few at a time. A file that cannot be sent gets a note with the
 * reason, and the others continue. Throws transient errors of Slack and the service: call it again, and uploaded files
 * are not uploaded twice. Throws TurnEnded if the message was deleted or the turn stopped.
 */
export async function uploadAttachments(request: AttachmentsUploadRequest): Promise<Attachments> {
  const { lease, stopSignal } = request;
  const unwanted = new AbortController();
  const signal = anySignal([lease.signal, lease.draining, unwanted.signal, stopSignal]);
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

/** Throws TurnEnded if the message was deleted or the turn stopped. */
async function throwIfUnwanted({ deps, turn }: AttachmentsUploadRequest): Promise<void> {
  const current = await deps.store.turns.get(turn.workspace, turn.id);
  if (current?.stop_requested_at != null) throw new TurnEnded('cancelled', null);
  const message = await deps.store.messages.get(messageKeyOf(turn));
  if (message?.state === 'withdrawn') throw new TurnEnded('withdrawn', null);
}

interface AttachmentItem {
  shared: SharedItem;
  progress: FileProgress;
  fileId?: string;
  note?: FileNote;
}

/** The upload of one message's files. */
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
    this.#items = request.items.map((shared) => ({
      shared,
      progress: { state: 'waiting', name: displayName(shared), ...declaredSize(shared) },
    }));
  }

  async run(): Promise<Attachments> {
    this.#reportProgress();
    const queue = [...this.#items.entries()];
    const worker = async () => {
      for (let next = queue.shift(); next !== undefined && !this.#hasFailed; next = queue.shift()) {
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
      attached_file_ids: this.#items.flatMap(({ fileId }) => fileId ?? []),
      notes: this.#items.flatMap(({ note }) => note ?? []),
      uploadedBytes: this.#uploadedBytes,
    };
  }

  /** Uploads one file, or notes why it is omitted. */
  async #process(item: AttachmentItem, index: number): Promise<void> {
    try {
      if (index >= this.#limits.maxMessageFiles) return this.#omit(item, { reason: 'too_many' });
      await this.#upload(item);
    } catch (error) {
      const reason = omissionReason(error) ?? (await this.#reasonToGiveUp(item, error));
      if (reason === undefined) throw error;
      const { shared } = item;
      const link =
        reason.reason === 'external' && shared.kind === 'file' ? externalLink(shared.file) : undefined;
      this.#omit(item, { ...reason, ...(link === undefined ? {} : { link }) });
    }
  }

  /**
   * Leaves out a file that cannot be fetched for `badThingMs` while Slack's other calls succeed, or whose upload the service
   * answers unreadably, or does not know although it knows the project, for half of `refusalMs`, or cannot carry out for
   * half of `badThingMs` while other calls succeed: after the whole time, the message itself would be given up.
   */
  async #reasonToGiveUp(
    { shared }: AttachmentItem,
    error: unknown,
  ): Promise<{ reason: FileReason } | undefined> {
    const isUnknown = error instanceof AgentNotFoundError;
    const isUnavailable = error instanceof AgentError && error.code === 'unavailable';
    const isUnreadable = error instanceof AgentError && error.code === 'not_understood';
    const isOfService = isUnknown || isUnavailable || isUnreadable;
    if (!isOfService && !(error instanceof FileUnavailableError)) return undefined;
    if (shared.kind !== 'file') return undefined;
    const { failing, workspace, deps, thread, projectId } = this.#request;
    if ((isUnknown || isUnavailable) && !(await projectExists(deps.agent(thread.account_id), projectId)))
      return undefined;
    const { refusalMs, badThingMs } = deps.settings;
    const time = failing.get(shared.file.id) ?? new FailingTime();
    failing.set(shared.file.id, time);
    if (isOfService) {
      const { presence } = deps.agent(thread.account_id);
      const failedMs = await time.count((at) =>
        isUnavailable ? presence.hasSucceededAfter(at) : presence.wasThereAfter(at),
      );
      const limitMs = isUnavailable ? badThingMs : refusalMs;
      return failedMs < limitMs / 2 ? undefined : { reason: 'service_failed' };
    }
    const failedMs = await time.count((at) => workspace.wasThereAfter(at));
    return failedMs < badThingMs ? undefined : { reason: 'broken_off' };
  }

  async #upload(item: AttachmentItem): Promise<void> {
    const { turn, thread, projectId } = this.#request;
    const source = await this.#sourceOf(item);
    if (typeof source === 'string') return this.#omit(item, { reason: source });
    if (!isTypeAllowed(source, this.#limits)) return this.#omit(item, { reason: 'type_refused' });
    const { sizeBytes } = source;
    if (this.#promisedBytes + sizeBytes > this.#limits.maxMessageBytes)
      return this.#omit(item, { reason: 'message_full' });
    this.#promisedBytes += sizeBytes;
    const name = displayName(item.shared);
    const { fileId, sentBytes } = await uploadSharedFile(this.#request, {
      account_id: thread.account_id,
      turn,
      projectId,
      source,
      signal: this.#signal,
      onUploadedElsewhere: () => this.#setProgress(item, { state: 'elsewhere', name, sizeBytes }),
      onProgress: (sentBytes) => this.#setProgress(item, { state: 'moving', name, sizeBytes, sentBytes }),
    });
    item.fileId = fileId;
    this.#uploadedBytes += sentBytes;
    this.#finish(item, { name, reason: null, sizeBytes });
  }

  /** An item's bytes, or why it is not sent. */
  async #sourceOf(item: AttachmentItem): Promise<UploadSource | FileReason> {
    const { shared } = item;
    if (shared.kind === 'left_out') return shared.reason;
    if (shared.kind === 'table') {
      const { id, name, csv } = shared;
      if (csv === undefined) return 'too_many_cells';
      const open = async (offset: number) => Readable.from([csv.subarray(offset)]);
      return { id, name, mime: 'text/csv', sizeBytes: csv.byteLength, open };
    }
    const { workspace, turn } = this.#request;
    if (shared.isForwarded) {
      const found = await workspace.downloads.lookUp(shared.file.id, this.#signal);
      if (typeof found === 'string') return found;
      if (!(await maySeeFile(workspace, turn.asked_by, found))) return 'not_visible';
      shared.file = found;
    }
    const { file, decision } = await workspace.downloads.resolve(shared.file, {
      signal: this.#signal,
      onWait: () => this.#setProgress(item, { state: 'processing', name: displayName(shared) }),
    });
    item.shared = { ...shared, file };
    if (decision.do === 'refuse') throw new FileRefusedError(file.id, decision.reason);
    return {
      // A snippet can be edited without a new id or another size, so each message uploads it anew.
      id: file.mode === 'snippet' ? `${file.id}/${turn.message_ts}` : file.id,
      name: serviceFileName(slackFileName(file), file.id),
      mime: decision.mime ?? '',
      sizeBytes: decision.sizeBytes ?? (await this.#probeSize(file)),
      open: async (offset, signal) => (await workspace.downloads.read(file, { offset, signal })).stream,
    };
  }

  /** The size of a file whose Slack record has none: from the response to a download. */
  async #probeSize(file: SlackFile): Promise<number> {
    const opened = await this.#request.workspace.downloads.open(file, { signal: this.#signal });
    opened.release();
    if (opened.sizeBytes === undefined) throw new FileRefusedError(file.id, 'processing');
    return opened.sizeBytes;
  }

  #omit(item: AttachmentItem, outcome: { reason: FileReason; detail?: string; link?: string }): void {
    const { turn, deps } = this.#request;
    const { shared } = item;
    const file = shared.kind === 'file' ? shared.file.id : shared.kind;
    deps.log.info({ turn: turn.id, file, reason: outcome.reason }, 'file omitted');
    this.#finish(item, { name: displayName(shared), ...outcome, ...declaredSize(shared) });
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

/** Why a file is omitted; undefined for an error that is not about the file. */
function omissionReason(error: unknown): { reason: FileReason; detail?: string } | undefined {
  if (error instanceof FileRefusedError) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.reason };
  if (error instanceof AgentError && error.code === 'wrong_size') return { reason: 'changed' };
  if (error instanceof AgentError && error.cause instanceof FileRefusedError)
    return { reason: error.cause.reason };
  return undefined;
}

function displayName(shared: SharedItem): string {
  return (shared.kind === 'file' ? slackFileName(shared.file) : shared.name) ?? UNNAMED_FILE;
}

function declaredSize(shared: SharedItem): { sizeBytes?: number } {
  const sizeBytes = shared.kind === 'file' ? shared.file.size : undefined;
  return typeof sizeBytes === 'number' ? { sizeBytes } : {};
}
