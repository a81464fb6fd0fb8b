import { sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isUnclaimed } from '../filters.ts';
import { changesRow, Queries } from '../queries.ts';
import type { UploadKey } from '../schema.ts';

/** What is recorded of an upload that has started. */
export interface UploadProgress {
  fileId: string;
  uploadId: string | null;
  partBytes: number | null;
  headers: Record<string, string>;
  parts: { number: number; etag: string }[];
  finalizing: boolean;
  sizeBytes: number;
}

/** The outcome of claiming an upload. */
export type UploadClaim =
  | { kind: 'ours'; begun: UploadProgress | undefined }
  /** Another turn is uploading it. */
  | { kind: 'taken' }
  /** The file is at the service. */
  | { kind: 'done'; fileId: string };

/** Uploads under way: the turn that claimed each, and what the storage has. */
export class ServiceUploads extends Queries {
  /**
   * Claims an upload for `ms`, once any earlier claim has expired. A file whose size differs from the one at the service
   * was edited since and is uploaded again.
   */
  async claim(key: UploadKey, claimedBy: string, ms: number, sizeBytes: number): Promise<UploadClaim> {
    const done = await this.db
      .selectFrom('uploaded_files')
      .select('file_id')
      .where(ofUpload(key))
      .where('size_bytes', '=', sizeBytes)
      .executeTakeFirst();
    if (done?.file_id != null) return { kind: 'done', fileId: done.file_id };
    const until = fromNow(ms);
    const row = await this.db
      .insertInto('uploads')
      .values({ ...key, claimed_by: claimedBy, claimed_until: until })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'slack_file_id', 'project_id'])
          .doUpdateSet({ claimed_by: claimedBy, claimed_until: until })
          .where((where) =>
            where.or([where('uploads.claimed_by', '=', claimedBy), isUnclaimed('uploads.claimed_until')]),
          ),
      )
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return { kind: 'taken' };
    if (row.file_id === null) return { kind: 'ours', begun: undefined };
    const parts = await this.db
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

  /** Extends the claim to `ms` from now; false if another turn has it. */
  async renew(key: UploadKey, claimedBy: string, ms: number): Promise<boolean> {
    return changesRow(
      this.db
        .updateTable('uploads')
        .set({ claimed_until: fromNow(ms) })
        .where(ofUpload(key))
        .where('claimed_by', '=', claimedBy),
    );
  }

  /** Lets somebody else take the claim at once; what was recorded stays. */
  async release(key: UploadKey, claimedBy: string): Promise<void> {
    await this.db
      .updateTable('uploads')
      .set({ claimed_until: fromNow(-1_000) })
      .where(ofUpload(key))
      .where('claimed_by', '=', claimedBy)
      .execute();
  }

  /** The upload has started, or started over: earlier parts are void. */
  async recordStart(key: UploadKey, begun: Omit<UploadProgress, 'parts' | 'finalizing'>): Promise<void> {
    await this.db.transaction().execute(async (trx) => {
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
    await this.db
      .insertInto('upload_parts')
      .values({ ...key, ...part })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'slack_file_id', 'project_id', 'number'])
          .doUpdateSet({ etag: part.etag }),
      )
      .execute();
  }

  /** All bytes are uploaded; from now on finalizing may have taken effect. */
  async markFinalizing(key: UploadKey): Promise<void> {
    await this.db.updateTable('uploads').set({ is_finalizing: true }).where(ofUpload(key)).execute();
  }

  /** The file is at the service. */
  async finish(key: UploadKey, file: { file_id: string; size_bytes: number }): Promise<void> {
    await this.db.transaction().execute(async (trx) => {
      await trx
        .insertInto('uploaded_files')
        .values({ ...key, ...file })
        .onConflict((conflict) =>
          conflict.columns(['workspace', 'slack_file_id', 'project_id']).doUpdateSet(file),
        )
        .execute();
      await trx.deleteFrom('uploads').where(ofUpload(key)).execute();
    });
  }
}

function ofUpload({ workspace, slack_file_id, project_id }: UploadKey) {
  return sql<boolean>`(workspace, slack_file_id, project_id) = (${workspace}, ${slack_file_id}, ${project_id})`;
}
