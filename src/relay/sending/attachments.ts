import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { plainCsvLine } from '../../render/csv-line.ts';
import { freeName, storedName, UNNAMED_FILE } from '../../render/file-names.ts';
import type { FileProgress } from '../../render/messages/file-lines.ts';
import type { FileReason } from '../../render/strings/index.ts';
import { capitalise } from '../../render/text-format.ts';
import { externalLink, type SlackFile, unstoredKind } from '../../slack/downloadable-files.ts';
import type { FileNote } from '../../store/schema.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { lookUpReferences, type NameScope } from '../reading/display-names.ts';
import { emailText } from '../reading/emails-and-voice-clips.ts';
import { attachmentName, isUnreadableQuote } from '../reading/message-attachments.ts';
import { blocksOf, filesOf, type ParsedMessage } from '../reading/message-parser.ts';
import { inlinesToText } from '../reading/message-to-markdown.ts';
import type { ParsedTable } from '../reading/parsed-blocks.ts';
import { cellsOf, isTooLarge, tablesAmong } from '../reading/pasted-tables.ts';
import { slackFileName } from '../reading/slack-file-names.ts';
import { throwIfInterrupted } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import {
  type FilePatience,
  type FileRefusal,
  filePatience,
  maySeeFile,
  reasonNotAllowed,
  refusalIn,
} from './allowed-files.ts';
import { withAlteredCellSearch } from './altered-cells.ts';
import { type UploadPlace, type UploadSource, uploadSharedFile } from './file-upload.ts';

const MAX_CONCURRENT_UPLOADS = 3;
/** Most bytes of a file that is read before its upload, because Slack does not say its size. */
const MAX_READ_BYTES = 10 * 1024 * 1024;
/** How often an upload checks whether its message was deleted (ms). */
const WANTED_CHECK_INTERVAL_MS = 1_000;

/** The outcome for a message's files and tables. */
export interface Attachments {
  /** The service's ids of the files that are sent with the message. */
  attached_file_ids: string[];
  /** A note for each item, in the message's order. Those without a reason are in the order of `attached_file_ids`. */
  notes: FileNote[];
  uploadedBytes: number;
}

/** Called with the state of all the message's items whenever that of an item changes. */
export type UploadProgressListener = (files: readonly FileProgress[]) => void;

export interface AttachmentsUploadRequest extends UploadPlace {
  items: readonly SharedItem[];
  /** The names of files that go along and are at the service. */
  keptNames: readonly string[];
  /** How long each file has failed, by id, over the attempts of this process. */
  failing: Map<string, FilePatience>;
  stopSignal: AbortSignal;
  onProgress: UploadProgressListener;
}

/**
 * Streams a message's files from Slack to the service, a few at a time. A file that cannot be sent gets a
 * note with the reason, and the others continue. Throws transient errors of Slack and the service: call it
 * again, and none is uploaded twice. Throws TurnEnded for a deleted message, or the reason of `stopSignal`.
 */
export async function uploadAttachments(request: AttachmentsUploadRequest): Promise<Attachments> {
  const { lease, stopSignal, deps, turn } = request;
  const unwanted = new AbortController();
  const signal = anySignal([lease.signal, lease.draining, unwanted.signal, stopSignal]);
  const abortIfDeleted = async () => {
    const message = await deps.store.messages.get(messageKeyOf(turn));
    if (message?.state === 'withdrawn') unwanted.abort(new TurnEnded('withdrawn', null));
  };
  using _checks = setInterval(() => void abortIfDeleted().catch(() => undefined), WANTED_CHECK_INTERVAL_MS);
  try {
    return await new AttachmentBatch(request, signal).run();
  } catch (error) {
    // An upload that was ended fails with an error of its own. What ended it is thrown in its place.
    throwIfInterrupted(lease);
    unwanted.signal.throwIfAborted();
    stopSignal.throwIfAborted();
    throw error;
  }
}

/** What became of an item: it has a `fileId` if it is sent. */
interface Outcome {
  note: FileNote;
  fileId?: string;
  sentBytes: number;
}

interface BatchItem {
  /** Of a file, what Slack said of it last. */
  shared: SharedItem;
  progress: FileProgress;
  outcome?: Outcome;
}

class AttachmentBatch {
  readonly #request: AttachmentsUploadRequest;
  readonly #signal: AbortSignal;
  readonly #items: readonly BatchItem[];
  /** The names that are taken, to which `freeName` adds. */
  readonly #takenNames = new Set<string>();
  #promisedBytes = 0;

  constructor(request: AttachmentsUploadRequest, signal: AbortSignal) {
    this.#request = request;
    this.#signal = signal;
    this.#items = request.items.map((shared) => ({
      shared,
      progress: { state: 'waiting', ...nameAndSize(shared) },
    }));
    const itemNames = this.#items.map(({ shared }) => nameAndSize(shared).name);
    for (const name of [...request.keptNames, ...itemNames]) freeName(name, this.#takenNames);
  }

  /** Uploads all items, a few at a time. After an error that concerns them all, none is begun any more. */
  async run(): Promise<Attachments> {
    this.#showProgress();
    const queue = [...this.#items.entries()];
    const worker = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [index, item] = next;
        await this.#process(item, index).catch((error: unknown) => {
          queue.length = 0;
          throw error;
        });
      }
    };
    for (const ended of await Promise.allSettled(Array.from({ length: MAX_CONCURRENT_UPLOADS }, worker)))
      if (ended.status === 'rejected') throw ended.reason;
    const outcomes = this.#items.flatMap(({ outcome }) => outcome ?? []);
    return {
      attached_file_ids: outcomes.flatMap(({ fileId }) => fileId ?? []),
      notes: outcomes.map(({ note }) => note),
      uploadedBytes: outcomes.reduce((sum, { sentBytes }) => sum + sentBytes, 0),
    };
  }

  /** Uploads an item, or notes why it is left out. Throws errors that are not about the item, or may pass. */
  async #process(item: BatchItem, index: number): Promise<void> {
    const result =
      index < this.#request.deps.settings.maxMessageFiles
        ? await this.#upload(item).catch((error: unknown) => this.#refusalFor(item, error))
        : ({ reason: 'too_many' } as const);
    item.outcome = 'note' in result ? result : this.#leaveOut(item, result);
    this.#showProgress(item, { state: 'over', outcome: item.outcome.note });
  }

  /** Logs that an item is left out, and returns its note. */
  #leaveOut({ shared }: BatchItem, refusal: FileRefusal): Outcome {
    const { turn, deps } = this.#request;
    const file = shared.kind === 'file' ? shared.file : undefined;
    deps.log.info({ turn: turn.id, file: file?.id ?? shared.kind, reason: refusal.reason }, 'file omitted');
    const link = refusal.reason === 'external' && file !== undefined ? externalLink(file) : undefined;
    return { note: { ...nameAndSize(shared), ...refusal, ...(link && { link }) }, sentBytes: 0 };
  }

  /** Why a file is left out after an error about it, or after failing for too long. Else throws the error. */
  async #refusalFor({ shared, progress }: BatchItem, error: unknown): Promise<FileRefusal> {
    const refusal = refusalIn(error);
    if (refusal !== undefined) return refusal;
    const { failing, projectId, workspace, deps, thread } = this.#request;
    const id = shared.kind === 'file' ? shared.file.id : shared.id;
    const patience = failing.get(id) ?? filePatience(deps.settings, workspace);
    failing.set(id, patience);
    const sentBytes = progress.state === 'moving' ? progress.sentBytes : 0;
    const reason = await patience(error, { agent: deps.agent(thread.account_id), projectId, sentBytes });
    if (reason === undefined) throw error;
    return { reason };
  }

  /** Uploads an item, or returns why it is not sent. The size of an allowed item counts against the message's limit. */
  async #upload(item: BatchItem): Promise<Outcome | FileRefusal> {
    const sourceOrReason = await this.#sourceOf(item);
    if (typeof sourceOrReason === 'string') return { reason: sourceOrReason };
    const { source, remark } = withAlteredCellSearch(sourceOrReason);
    const { sizeBytes } = source;
    const reason = reasonNotAllowed(source, this.#promisedBytes, this.#request.deps.settings);
    if (reason !== undefined) return { reason };
    this.#promisedBytes += sizeBytes;
    const { name } = nameAndSize(item.shared);
    const uploaded = await uploadSharedFile(this.#request, {
      source,
      signal: this.#signal,
      onUploadedElsewhere: () => this.#showProgress(item, { state: 'elsewhere', name, sizeBytes }),
      onProgress: (sentBytes) => this.#showProgress(item, { state: 'moving', name, sizeBytes, sentBytes }),
    });
    return { ...uploaded, note: { name, reason: null, sizeBytes, ...(await remark(this.#signal)) } };
  }

  /** What is to be uploaded for an item, or why nothing is. */
  async #sourceOf(item: BatchItem): Promise<UploadSource | FileReason> {
    const { shared } = item;
    if (shared.kind === 'left_out') return shared.reason;
    if (shared.kind === 'file') {
      const visible = shared.isForwarded ? await this.#lookUpForwarded(item, shared) : shared;
      return typeof visible === 'string' ? visible : this.#fileSource(item, visible);
    }
    const { id, name, csv } = shared;
    return bytesSource({ id, name, mime: 'text/csv' }, csv);
  }

  /** Looks up a file of a forwarded message, and updates its `item`. Returns the file, or why it is not sent. */
  async #lookUpForwarded(item: BatchItem, shared: SharedFile): Promise<SharedFile | FileReason> {
    const { workspace, turn } = this.#request;
    const file = await workspace.downloads.lookUp(shared.file.id, this.#signal);
    if (typeof file === 'string') return file;
    if (!(await maySeeFile(workspace, turn.asked_by, file))) return 'not_visible';
    item.shared = { ...shared, file };
    return item.shared;
  }

  /** Waits until Slack has a file ready, and updates its `item`. Returns what is to be uploaded, or why nothing is. */
  async #fileSource(item: BatchItem, shared: SharedFile): Promise<UploadSource | FileReason> {
    const { workspace, turn } = this.#request;
    const { downloads } = workspace;
    // Slack tells nobody that a snippet was edited. With this access, `resolve` looks it up again.
    const isSnippet = shared.file.mode === 'snippet';
    const toResolve = isSnippet ? { ...shared.file, file_access: 'check_file_info' as const } : shared.file;
    const { file, decision } = await downloads.resolve(toResolve, {
      signal: this.#signal,
      onWait: () => this.#showProgress(item, { state: 'processing', name: nameAndSize(item.shared).name }),
    });
    const email = emailText(file);
    // An event of Slack Connect may bring no name.
    const ownName = email?.name ?? slackFileName(file);
    const name = shared.name ?? (ownName && freeName(ownName, this.#takenNames));
    item.shared = { ...shared, file, name };
    // An edited file keeps its id, and perhaps its size: each message uploads anew what can be edited.
    const isEditable = file.mode === 'snippet' || unstoredKind(file) !== undefined;
    const id = isEditable ? `${file.id}/${turn.message_ts}` : file.id;
    if (email !== undefined)
      return bytesSource({ id, name: `${name}.txt`, mime: 'text/plain' }, Buffer.from(email.text));
    if (decision.do === 'refuse') return decision.reason;
    const uploadName = storedName(name ?? '', `file-${file.id}`);
    const open = async (offset: number, signal: AbortSignal) => downloads.read(file, { offset, signal });
    const source = { id, name: uploadName, mime: decision.mime ?? '', open };
    const { sizeBytes } = decision;
    return sizeBytes === undefined ? this.#unsizedSource(file, source) : { ...source, sizeBytes };
  }

  /** What is to be uploaded for a file whose size only its response or a count of its bytes says, or why nothing is. */
  async #unsizedSource(file: SlackFile, source: Omit<UploadSource, 'sizeBytes'>) {
    const opened = await this.#request.workspace.downloads.open(file, { signal: this.#signal });
    const { sizeBytes, mime } = opened;
    const isPage = /^text\/html/i.test(mime);
    // The size of a page does not count: Slack may write the page anew for each download.
    const hasFixedSize = sizeBytes !== undefined && !isPage;
    if (sizeBytes === 0 || hasFixedSize) opened.release(); // Its bytes are not read here.
    if (sizeBytes === 0) return 'empty';
    if (hasFixedSize) return { ...source, sizeBytes };
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of opened.stream) {
      length += chunk.length;
      if (length > MAX_READ_BYTES) return 'too_large';
      chunks.push(chunk);
    }
    const name = isPage && !/\.html?$/i.test(source.name) ? `${source.name}.html` : source.name;
    return bytesSource({ ...source, name, mime: mime || source.mime }, Buffer.concat(chunks));
  }

  /** Records how far an item is, if one is given, and tells the listener how far all are. */
  #showProgress(item?: BatchItem, progress?: FileProgress): void {
    if (item !== undefined && progress !== undefined) item.progress = progress;
    this.#request.onProgress(this.#items.map((one) => one.progress));
  }
}

function bytesSource(about: Pick<UploadSource, 'id' | 'name' | 'mime'>, bytes: Buffer) {
  const open = async (offset: number) => Readable.from([bytes.subarray(offset)]);
  return { ...about, name: storedName(about.name, UNNAMED_FILE), sizeBytes: bytes.byteLength, open };
}

function nameAndSize(shared: SharedItem): { name: string; sizeBytes?: number } {
  if (shared.kind !== 'file') return { name: shared.name };
  const { size: sizeBytes } = shared.file;
  const name = shared.name ?? slackFileName(shared.file) ?? UNNAMED_FILE;
  return sizeBytes === undefined ? { name } : { name, sizeBytes };
}

interface SharedFile {
  kind: 'file';
  file: SlackFile;
  /** A name that no other file of the message has; undefined if the file has none. */
  name: string | undefined;
  /** It came with a forwarded message: the asker may not be allowed to see it. */
  isForwarded: boolean;
}

/** What people shared with a message, beside its text. */
export type SharedItem =
  | SharedFile
  | { kind: 'table'; id: string; name: string; csv: Buffer }
  /** A table that is too large, or an attachment that was too long to keep or in which nothing can be read. */
  | { kind: 'left_out'; id: string; name: string; reason: 'too_many_cells' | 'too_long' | 'unreadable' };

/**
 * What people shared with messages: each file once, under a name that no other has and that is none of the `keptNames`;
 * and each table. What is too large, too long to keep, or unreadable, is `left_out`.
 */
export async function sharedItemsOf(
  scope: NameScope,
  messages: readonly ParsedMessage[],
  keptNames: readonly string[],
): Promise<SharedItem[]> {
  const attachments = messages.flatMap((message) => message.attachments);
  const forwarded = attachments.flatMap(({ is_share, files = [] }) => (is_share === true ? files : []));
  const own = messages.flatMap(({ files }) => files);
  const ownIds = new Set(filesOf({ files: own }).map(({ id }) => id));
  const tables = tablesAmong(messages.flatMap(blocksOf));
  const taken = new Set<string>(); // The names that are taken: `freeName` adds to them.
  for (const name of [...keptNames, ...tables.flatMap(({ file }) => file ?? [])]) freeName(name, taken);
  const items = filesOf({ files: [...own, ...forwarded] }).map((file): SharedItem => {
    const name = emailText(file)?.name ?? slackFileName(file);
    return { kind: 'file', file, name: name && freeName(name, taken), isForwarded: !ownIds.has(file.id) };
  });
  for (const table of tables) items.push(await tableItem(scope, table));
  for (const attachment of attachments) {
    const isTooLong = attachment.is_left_out === true;
    if (!isTooLong && !isUnreadableQuote(attachment)) continue;
    const name = capitalise(attachmentName(attachment));
    items.push({ kind: 'left_out', id: name, name, reason: isTooLong ? 'too_long' : 'unreadable' });
  }
  return items;
}

/** A table as a CSV file, with the name by which its message's text refers to it. */
async function tableItem(scope: NameScope, table: ParsedTable): Promise<SharedItem> {
  const name = table.file ?? '';
  if (isTooLarge(table)) return { kind: 'left_out', id: name, name, reason: 'too_many_cells' };
  const lines = (await textOfCells(scope, table)).map(plainCsvLine);
  const csv = Buffer.from(`${lines.join('\n')}\n`);
  // A table is uploaded once, until an edit changes what it says.
  return { kind: 'table', id: `${name}/${createHash('sha256').update(csv).digest('hex')}`, name, csv };
}

/** The text of a table's cells, by rows. */
export async function textOfCells(scope: NameScope, table: ParsedTable): Promise<string[][]> {
  const cells = await cellsOf(table);
  const names = await lookUpReferences(scope, cells.flat(2));
  return cells.map((row) => row.map((cell) => inlinesToText(cell, names)));
}
