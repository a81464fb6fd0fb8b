import { sql } from 'kysely';
import { fromNow, Queries, toPostgresJson } from '../queries.ts';
import type { UploadKey, UploadRow } from '../schema.ts';
import { isOpenTurn } from '../threads/turn-phase.ts';

/** The longest claim of a turn that never ends (ms). */
const MAX_CLAIM_MS = 24 * 60 * 60_000;

/** What is recorded when an upload has started. */
export type UploadStart = Pick<UploadRow, 'file_id' | 'multipart_id' | 'part_size_bytes' | 'size_bytes'> & {
  part_headers: Readonly<Record<string, string>>;
};

/** The outcome of claiming an upload. */
export type UploadClaim =
  | { kind: 'ours'; row: UploadRow }
  /** Another turn is uploading it. */
  | { kind: 'taken' }
  /** The file is at the service. */
  | { kind: 'done'; fileId: string };

/**
 * Uploads to the service: the turn that claimed each, what the storage has, and which are complete. A complete one learns nothing
 * more from a process that comes too late.
 */
export class ServiceUploads extends Queries {
  /**
   * Claims an upload for a turn, unless another one has it that is not over and has not released it. A file whose size differs
   * from the one at the service was edited since and is uploaded again.
   */
  async claim(key: UploadKey, claimedBy: string, sizeBytes: number): Promise<UploadClaim> {
    const { workspace, slack_file_id, project_id } = key;
    const row = await this.first(sql<UploadRow>`
      insert into uploads (workspace, slack_file_id, project_id, claimed_by)
      values (${workspace}, ${slack_file_id}, ${project_id}, ${claimedBy})
      on conflict (workspace, slack_file_id, project_id) do update
        set claimed_by = excluded.claimed_by, started_at = excluded.started_at, uploaded_at = null
        where case when uploads.uploaded_at is not null then uploads.size_bytes <> ${sizeBytes}
          else uploads.claimed_by = excluded.claimed_by or uploads.started_at < ${fromNow(-MAX_CLAIM_MS)} or not exists (
            select from turns where (turns.workspace, turns.id) = (uploads.workspace, uploads.claimed_by) and ${isOpenTurn})
          end
      returning *`);
    if (row !== undefined) return { kind: 'ours', row };
    const known = await this.first(sql<{ file_id: string }>`
      select file_id from uploads where ${ofUpload(key)} and uploaded_at is not null and size_bytes = ${sizeBytes}`);
    return known === undefined ? { kind: 'taken' } : { kind: 'done', fileId: known.file_id };
  }

  /** Lets somebody else take the claim at once; what was recorded stays. */
  async release(key: UploadKey, claimedBy: string): Promise<void> {
    await this.changes(
      sql`update uploads set claimed_by = null where ${ofUpload(key)} and claimed_by = ${claimedBy}`,
    );
  }

  /** The upload has started, or started over: earlier parts are void. */
  async recordStart(key: UploadKey, start: UploadStart): Promise<void> {
    const { file_id, multipart_id, part_size_bytes, part_headers, size_bytes } = start;
    await this.changes(sql`
      update uploads set file_id = ${file_id}, multipart_id = ${multipart_id}, part_size_bytes = ${part_size_bytes},
        part_headers = ${JSON.stringify(part_headers)}, size_bytes = ${size_bytes}, part_etags = '{}', is_finalizing = false
      where ${ofUpload(key)} and uploaded_at is null`);
  }

  async recordPart(key: UploadKey, { number, etag }: { number: number; etag: string }): Promise<void> {
    await this.changes(sql`
      update uploads set part_etags = part_etags || ${toPostgresJson({ [number]: etag })}::jsonb
      where ${ofUpload(key)} and uploaded_at is null`);
  }

  /** All bytes are uploaded; from now on finalizing may have taken effect. */
  async markFinalizing(key: UploadKey): Promise<void> {
    await this.changes(
      sql`update uploads set is_finalizing = true where ${ofUpload(key)} and uploaded_at is null`,
    );
  }

  /** The file is at the service. */
  async finish(
    key: UploadKey,
    { file_id, size_bytes, sha256 }: { file_id: string; size_bytes: number; sha256: string | null },
  ): Promise<void> {
    await this.changes(sql`
      update uploads set uploaded_at = now(), file_id = ${file_id}, size_bytes = ${size_bytes}, sha256 = ${sha256}
      where ${ofUpload(key)}`);
  }

  /** Of these files of the service, those that we sent: the file of Slack, unless it was a message's table, and the SHA-256. */
  async sent(workspace: string, fileIds: readonly string[]) {
    const rows = await this.rows(sql<{ file_id: string; slack_file_id: string; sha256: string | null }>`
      select file_id, slack_file_id, sha256 from uploads
      where workspace = ${workspace} and file_id = any(${[...fileIds]}::text[]) and uploaded_at is not null
      order by slack_file_id`);
    const sent = rows.map(({ file_id, slack_file_id: id, sha256 }) => {
      // One that can be edited is known by the message that sent it, too.
      const slackFileId = /^F[A-Z0-9]+(?=\/|$)/.exec(id)?.[0];
      return [file_id, { slackFileId, sha256 }] as const;
    });
    return new Map(sent);
  }
}

function ofUpload({ workspace, slack_file_id, project_id }: UploadKey) {
  return sql<boolean>`(workspace, slack_file_id, project_id) = (${workspace}, ${slack_file_id}, ${project_id})`;
}
