import { type Kysely, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isUnclaimed } from '../filters.ts';
import type { Tables } from '../schema.ts';

/** Names one upload: a Slack file on its way into a project. */
export interface UploadKey {
  workspace: string;
  slack_file: string;
  project_id: string;
}

/** What is recorded of an upload that has begun. */
export interface UploadProgress {
  fileId: string;
  uploadId: string | null;
  partBytes: number | null;
  headers: Record<string, string>;
  parts: { number: number; etag: string }[];
  finalizing: boolean;
  sizeBytes: number;
}

/** Whose an upload is. */
export type UploadClaim =
  | { kind: 'ours'; begun: UploadProgress | undefined }
  /** Somebody else is at it. */
  | { kind: 'taken' }
  /** The file is at the service. */
  | { kind: 'done'; fileId: string };

/** Uploads under way: who holds each, and what the storage has of it. */
export class ServiceUploads {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Claims an upload for `ms`; whoever held it before must be silent for as long. A file that has another size than the
   * one at the service was edited since.
   */
  async claim(key: UploadKey, claimedBy: string, ms: number, sizeBytes: number): Promise<UploadClaim> {
    const done = await this.#db
      .selectFrom('uploaded_files')
      .select('file_id')
      .where(ofUpload(key))
      .where('size_bytes', '=', sizeBytes)
      .executeTakeFirst();
    if (done?.file_id != null) return { kind: 'done', fileId: done.file_id };
    const until = fromNow(ms);
    const row = await this.#db
      .insertInto('uploads')
      .values({ ...key, claimed_by: claimedBy, claimed_until: until })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'slack_file', 'project_id'])
          .doUpdateSet({ claimed_by: claimedBy, claimed_until: until })
          .where((where) =>
            where.or([where('uploads.claimed_by', '=', claimedBy), isUnclaimed('uploads.claimed_until')]),
          ),
      )
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return { kind: 'taken' };
    if (row.file_id === null) return { kind: 'ours', begun: undefined };
    const parts = await this.#db
      .selectFrom('upload_parts')
      .select(['number', 'etag'])
      .where(ofUpload(key))
      .execute();
    const begun = {
      fileId: row.file_id,
      uploadId: row.multipart_id,
      partBytes: row.part_size_bytes,
      headers: row.part_headers ?? {},
      finalizing: row.is_finalizing,
      sizeBytes: row.size_bytes ?? 0,
      parts,
    };
    return { kind: 'ours', begun };
  }

  /** Holds the claim for `ms` more; false where it is another's by now. */
  async renew(key: UploadKey, claimedBy: string, ms: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('uploads')
      .set({ claimed_until: fromNow(ms) })
      .where(ofUpload(key))
      .where('claimed_by', '=', claimedBy)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** Lets somebody else take the claim at once; what was recorded stays. */
  async release(key: UploadKey, claimedBy: string): Promise<void> {
    await this.#db
      .updateTable('uploads')
      .set({ claimed_until: fromNow(-1_000) })
      .where(ofUpload(key))
      .where('claimed_by', '=', claimedBy)
      .execute();
  }

  /** The upload has begun, or begun anew: the parts that were recorded before are void. */
  async recordStart(key: UploadKey, begun: Omit<UploadProgress, 'parts' | 'finalizing'>): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await trx.deleteFrom('upload_parts').where(ofUpload(key)).execute();
      await trx
        .updateTable('uploads')
        .set({
          file_id: begun.fileId,
          multipart_id: begun.uploadId,
          part_size_bytes: begun.partBytes,
          part_headers: JSON.stringify(begun.headers),
          size_bytes: begun.sizeBytes,
          is_finalizing: false,
          started_at: sql<Date>`now()`,
        })
        .where(ofUpload(key))
        .execute();
    });
  }

  /** The storage has a part. */
  async recordPart(key: UploadKey, part: { number: number; etag: string }): Promise<void> {
    await this.#db
      .insertInto('upload_parts')
      .values({ ...key, ...part })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'slack_file', 'project_id', 'number'])
          .doUpdateSet({ etag: part.etag }),
      )
      .execute();
  }

  /** All bytes are there; from here on the finalize may have taken effect. */
  async markFinalizing(key: UploadKey): Promise<void> {
    await this.#db.updateTable('uploads').set({ is_finalizing: true }).where(ofUpload(key)).execute();
  }

  /** The file is at the service. */
  async finish(key: UploadKey, file: { file_id: string; size_bytes: number }): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await trx
        .insertInto('uploaded_files')
        .values({ ...key, ...file })
        .onConflict((conflict) =>
          conflict.columns(['workspace', 'slack_file', 'project_id']).doUpdateSet(file),
        )
        .execute();
      await trx.deleteFrom('uploads').where(ofUpload(key)).execute();
    });
  }

  /** Nothing is to come of it: the file cannot be had. */
  async discard(key: UploadKey, claimedBy: string): Promise<void> {
    await this.#db.deleteFrom('uploads').where(ofUpload(key)).where('claimed_by', '=', claimedBy).execute();
  }
}

function ofUpload({ workspace, slack_file, project_id }: UploadKey) {
  return sql<boolean>`(workspace, slack_file, project_id) = (${workspace}, ${slack_file}, ${project_id})`;
}
