import { uploadFile } from '../../agent/upload-file.ts';
import type { ResumableUpload } from '../../agent/upload-request.ts';
import type { SlackFile } from '../../slack/shared-file.ts';
import type { UploadKey, UploadProgress } from '../../store/files/service-uploads.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { sleepWithLease } from '../runtime/retry.ts';

/** How long one turn has the right to upload a file, in ms; it holds on to it while it is at it. */
const CLAIM_MS = 15_000;
const CLAIM_RENEW_INTERVAL_MS = 5_000;
/** How often a file is looked for that another thread uploads (ms). */
const CLAIM_RETRY_DELAY_MS = 500;

/** What is uploaded, and for whom. */
export interface FileUploadRequest {
  account: string;
  turn: Turn;
  projectId: string;
  file: SlackFile;
  name: string;
  mime: string;
  sizeBytes: number;
  lease: Lease;
  /** Ends the upload; what the storage has stays for the next try. */
  signal: AbortSignal;
  /** Another thread uploads the same file. */
  onUploadedElsewhere: () => void;
  onProgress: (sentBytes: number) => void;
}

/** One Slack file on its way into a project: uploaded once, whoever needs it, and gone on with after a crash. */
export class FileUpload {
  readonly #deps: RelayDeps;
  readonly #workspace: WorkspaceClient;
  readonly #request: FileUploadRequest;
  readonly #key: UploadKey;

  constructor(deps: RelayDeps, workspace: WorkspaceClient, request: FileUploadRequest) {
    this.#deps = deps;
    this.#workspace = workspace;
    this.#request = request;
    this.#key = {
      workspace: request.turn.workspace,
      slack_file: request.file.id,
      project_id: request.projectId,
    };
  }

  /** The service's file id, and how many bytes were sent for it. */
  async run(): Promise<{ fileId: string; sentBytes: number }> {
    const { turn, lease, signal, sizeBytes } = this.#request;
    for (;;) {
      signal.throwIfAborted();
      const claim = await this.#deps.store.uploads.claim(this.#key, turn.id, CLAIM_MS, sizeBytes);
      if (claim.kind === 'done') return { fileId: claim.fileId, sentBytes: 0 };
      if (claim.kind === 'ours') {
        const done = await this.#uploadWhileClaimed(claim.begun);
        if (done !== undefined) return done;
        continue;
      }
      this.#request.onUploadedElsewhere();
      await sleepWithLease(CLAIM_RETRY_DELAY_MS, lease);
    }
  }

  /** Uploads while the claim holds, and lets others take it when it fails; undefined where the claim was lost. */
  async #uploadWhileClaimed(
    begun: UploadProgress | undefined,
  ): Promise<{ fileId: string; sentBytes: number } | undefined> {
    const { uploads } = this.#deps.store;
    const { turn, signal } = this.#request;
    const lost = new AbortController();
    const timer = setInterval(() => {
      uploads.renew(this.#key, turn.id, CLAIM_MS).then(
        (ours) => {
          if (!ours) lost.abort(new Error('Another turn uploads the file by now.'));
        },
        (error: unknown) => this.#deps.log.debug({ err: error }, 'an upload could not be renewed'),
      );
    }, CLAIM_RENEW_INTERVAL_MS);
    try {
      return await this.#upload(begun, AbortSignal.any([signal, lost.signal]));
    } catch (error) {
      if (lost.signal.aborted && !signal.aborted) return undefined;
      await uploads.release(this.#key, turn.id).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  async #upload(
    begun: UploadProgress | undefined,
    signal: AbortSignal,
  ): Promise<{ fileId: string; sentBytes: number }> {
    const { uploads } = this.#deps.store;
    const { account, projectId, file, name, sizeBytes, onProgress } = this.#request;
    const resume = resumableUpload(begun, sizeBytes);
    const before = resume?.uploadId == null ? 0 : resume.parts.length * (resume.partBytes ?? 0);
    let sentBytes = 0;
    const uploaded = await uploadFile(this.#deps.agent(account), {
      projectId,
      filename: name,
      sizeBytes,
      mimeType: /^[\w.+-]+\/[\w.+-]+/.exec(this.#request.mime)?.[0] ?? 'application/octet-stream',
      open: async (offset) => (await this.#workspace.downloads.read(file, { offset, signal })).stream,
      resume,
      signal,
      onStart: (started) => uploads.recordStart(this.#key, toUploadRecord(started, sizeBytes)),
      onPart: (part) => uploads.recordPart(this.#key, part),
      onFinalize: () => uploads.finalizing(this.#key),
      onProgress: (doneBytes) => {
        sentBytes = Math.max(0, doneBytes - before);
        onProgress(doneBytes);
      },
    });
    await uploads.finish(this.#key, { file_id: uploaded.id, size_bytes: sizeBytes });
    return { fileId: uploaded.id, sentBytes };
  }
}

/** What an earlier upload left, where it was of the same bytes. */
function resumableUpload(begun: UploadProgress | undefined, sizeBytes: number): ResumableUpload | undefined {
  return begun?.sizeBytes === sizeBytes ? begun : undefined;
}

function toUploadRecord(begun: ResumableUpload, sizeBytes: number) {
  const { fileId, uploadId, partBytes } = begun;
  return { fileId, uploadId, partBytes, headers: { ...begun.headers }, sizeBytes };
}
