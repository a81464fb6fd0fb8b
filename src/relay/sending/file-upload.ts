import type { ResumableUpload } from '../../agent/request-bodies.ts';
import { uploadFile } from '../../agent/upload-file.ts';
import { fileType } from '../../render/file-types.ts';
import { withDigest } from '../../slack/file-response.ts';
import type { Thread, Turn, UploadKey, UploadRow } from '../../store/schema.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease } from '../runtime/lease.ts';

/** How often a thread checks for a file that another thread uploads (ms). */
const CLAIM_RETRY_DELAY_MS = 500;

export interface UploadSource {
  /** Identifies the contents, which are uploaded once into each project. */
  id: string;
  name: string;
  mime: string;
  sizeBytes: number;
  /** The bytes from `offset` on. */
  open: (offset: number, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

export interface UploadPlace extends ThreadWork {
  thread: Thread;
  turn: Turn;
  projectId: string;
}

export interface FileUpload {
  source: UploadSource;
  /** Ends the upload. The uploaded parts are kept for the next attempt. */
  signal: AbortSignal;
  onUploadedElsewhere: () => void;
  onProgress: (sentBytes: number) => void;
}

/** The service's id of an uploaded file, and how many bytes were sent for it. */
interface UploadedFile {
  fileId: string;
  sentBytes: number;
}

/** Uploads a file into a project: once for all threads that need it, and resumed after a crash. */
export async function uploadSharedFile(place: UploadPlace, file: FileUpload): Promise<UploadedFile> {
  const { deps, lease, turn, projectId } = place;
  const key = { workspace: turn.workspace, slack_file_id: file.source.id, project_id: projectId };
  for (;;) {
    file.signal.throwIfAborted();
    const claim = await deps.store.uploads.claim(key, turn.id, file.source.sizeBytes);
    if (claim.kind === 'done') return { fileId: claim.fileId, sentBytes: 0 };
    if (claim.kind === 'ours') {
      return await upload(place, file, key, claim.row).catch(async (error: unknown) => {
        // Without the lease, the process that has the turn now goes on with the upload.
        if (lease.remainingMs() > 0) await deps.store.uploads.release(key, turn.id).catch(() => undefined);
        throw error;
      });
    }
    file.onUploadedElsewhere();
    await sleepWithLease(CLAIM_RETRY_DELAY_MS, lease);
  }
}

/** Uploads a file, or the rest of an interrupted upload. Records each step, for the next attempt. */
async function upload(
  { deps, thread, projectId }: UploadPlace,
  { source, signal, onProgress }: FileUpload,
  key: UploadKey,
  row: UploadRow,
): Promise<UploadedFile> {
  const { uploads } = deps.store;
  const { name, mime, sizeBytes } = source;
  const resume = row.size_bytes === sizeBytes ? resumableUpload(row) : undefined;
  // An upload without parts begins anew. The last part may be shorter: then this is more than was sent before.
  const sentBefore = resume?.uploadId == null ? 0 : resume.parts.length * (resume.partBytes ?? 0);
  let sentBytes = 0;
  let sha256: string | null = null;
  const openWithDigest = async (offset: number) => {
    const bytes = await source.open(offset, signal);
    // A resumed upload does not see the file's beginning, so it has no digest.
    return offset > 0 ? bytes : withDigest(bytes, (digest) => (sha256 = digest));
  };
  const uploaded = await uploadFile(deps.agent(thread.account_id), {
    projectId,
    filename: name,
    sizeBytes,
    mimeType: fileType(name, mime),
    open: openWithDigest,
    resume,
    signal,
    onStart: ({ fileId, uploadId, partBytes, headers }) =>
      uploads.recordStart(key, {
        file_id: fileId,
        multipart_id: uploadId,
        part_size_bytes: partBytes,
        part_headers: headers ?? {},
        size_bytes: sizeBytes,
      }),
    onPart: (part) => uploads.recordPart(key, part),
    onFinalize: () => uploads.markFinalizing(key),
    onProgress: (uploadedBytes) => {
      sentBytes = Math.max(0, uploadedBytes - sentBefore);
      onProgress(uploadedBytes);
    },
  });
  await uploads.finish(key, { file_id: uploaded.id, size_bytes: sizeBytes, sha256 });
  return { fileId: uploaded.id, sentBytes };
}

/** The upload that an earlier attempt has begun; undefined if it has not. */
function resumableUpload(row: UploadRow): ResumableUpload | undefined {
  if (row.file_id === null) return undefined;
  return {
    fileId: row.file_id,
    uploadId: row.multipart_id,
    partBytes: row.part_size_bytes,
    headers: row.part_headers ?? {},
    finalizing: row.is_finalizing,
    parts: Object.entries(row.part_etags).map(([number, etag]) => ({ number: Number(number), etag })),
  };
}
