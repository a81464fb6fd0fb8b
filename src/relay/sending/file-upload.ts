import { uploadFile } from '../../agent/upload-file.ts';
import type { ResumableUpload } from '../../agent/upload-request.ts';
import type { SlackFile } from '../../slack/shared-file.ts';
import type { UploadProgress } from '../../store/files/service-uploads.ts';
import type { Turn, UploadKey } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { sleepWithLease } from '../runtime/retry.ts';

/** How long a turn's claim to upload a file lasts (ms), and how often the turn renews it. */
const CLAIM_MS = 15_000;
const CLAIM_RENEW_INTERVAL_MS = 5_000;
/** How often a thread checks for a file that another thread uploads (ms). */
const CLAIM_RETRY_DELAY_MS = 500;

/** What to upload, and for whom. */
export interface FileUploadRequest {
  account_id: string;
  turn: Turn;
  projectId: string;
  file: SlackFile;
  name: string;
  mime: string;
  sizeBytes: number;
  lease: Lease;
  /** Ends the upload. The uploaded parts are kept for the next attempt. */
  signal: AbortSignal;
  /** Called while another thread uploads the same file. */
  onUploadedElsewhere: () => void;
  onProgress: (sentBytes: number) => void;
}

/** The upload of one Slack file into a project: once for all threads that need it, and resumed after a crash. */
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
      // A snippet can be edited without a new id or another size, so each message uploads it anew.
      slack_file_id:
        request.file.mode === 'snippet' ? `${request.file.id}/${request.turn.message_ts}` : request.file.id,
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

  /** Uploads while the claim lasts, and releases the claim on failure; undefined where the claim was lost. */
  async #uploadWhileClaimed(
    begun: UploadProgress | undefined,
  ): Promise<{ fileId: string; sentBytes: number } | undefined> {
    const { uploads } = this.#deps.store;
    const { turn, signal } = this.#request;
    const lost = new AbortController();
    const timer = setInterval(() => {
      uploads.renew(this.#key, turn.id, CLAIM_MS).then(
        (ours) => {
          if (!ours) lost.abort(new Error('Another turn has taken over the upload.'));
        },
        (error: unknown) => this.#deps.log.debug({ err: error }, 'renewing the claim to an upload failed'),
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
    const { account_id, projectId, file, name, sizeBytes, onProgress } = this.#request;
    const resume = resumableUpload(begun, sizeBytes);
    const before = resume?.uploadId == null ? 0 : resume.parts.length * (resume.partBytes ?? 0);
    let sentBytes = 0;
    const uploaded = await uploadFile(this.#deps.agent(account_id), {
      projectId,
      filename: name,
      sizeBytes,
      mimeType: /^[\w.+-]+\/[\w.+-]+/.exec(this.#request.mime)?.[0] ?? 'application/octet-stream',
      open: async (offset) => (await this.#workspace.downloads.read(file, { offset, signal })).stream,
      resume,
      signal,
      onStart: (started) => uploads.recordStart(this.#key, toUploadRecord(started, sizeBytes)),
      onPart: (part) => uploads.recordPart(this.#key, part),
      onFinalize: () => uploads.markFinalizing(this.#key),
      onProgress: (doneBytes) => {
        sentBytes = Math.max(0, doneBytes - before);
        onProgress(doneBytes);
      },
    });
    await uploads.finish(this.#key, { file_id: uploaded.id, size_bytes: sizeBytes });
    return { fileId: uploaded.id, sentBytes };
  }
}

/** The earlier upload to resume, if it was of the same size. */
function resumableUpload(begun: UploadProgress | undefined, sizeBytes: number): ResumableUpload | undefined {
  return begun?.sizeBytes === sizeBytes ? begun : undefined;
}

function toUploadRecord(begun: ResumableUpload, sizeBytes: number) {
  const { fileId, uploadId, partBytes } = begun;
  return { fileId, uploadId, partBytes, headers: { ...begun.headers }, sizeBytes };
}
