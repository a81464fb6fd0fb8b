import { sql } from 'kysely';
import { changesRow, Queries } from '../queries.ts';
import { inChangeSequence, nextChangeSeq } from './workspaces.ts';

/** An encrypted text, and the row that it belongs to. */
export interface EncryptedRow {
  /** The tokens of an installation, the key of an account, or the instructions in the settings of a channel. */
  kind: 'installation' | 'account' | 'setting';
  workspace: string;
  /** The id of the account, or the channel; '' for an installation. */
  key: string;
  encrypted: string;
}

/** The query for every `EncryptedRow`. */
export const ALL_ENCRYPTED = `
  select 'installation' as kind, workspace, '' as key, encrypted_tokens as encrypted from installations
  where encrypted_tokens is not null
  union all select 'account', workspace, account_id, encrypted_api_key from accounts
  where encrypted_api_key is not null
  union all select 'setting', workspace, channel, instructions ->> 'encrypted' from settings
  where instructions is not null`;

/** All encrypted texts, for a change of SECRET_KEY. */
export class EncryptedTexts extends Queries {
  async all(): Promise<EncryptedRow[]> {
    return this.rows(sql.raw<EncryptedRow>(ALL_ENCRYPTED));
  }

  /** Replaces the text of a row; false if it has changed meanwhile. */
  async replace({ kind, workspace, key, encrypted }: EncryptedRow, text: string): Promise<boolean> {
    const change = {
      installation: sql`
        update installations set encrypted_tokens = ${text}, change_seq = ${nextChangeSeq}
        where workspace = ${workspace} and encrypted_tokens = ${encrypted}`,
      account: sql`
        update accounts set encrypted_api_key = ${text}, change_seq = ${nextChangeSeq}
        where (workspace, account_id) = (${workspace}, ${key}) and encrypted_api_key = ${encrypted}`,
      setting: sql`
        update settings set instructions = jsonb_set(instructions, '{encrypted}', to_jsonb(${text}::text))
        where (workspace, channel) = (${workspace}, ${key}) and instructions ->> 'encrypted' = ${encrypted}`,
    }[kind];
    return inChangeSequence(this.db, (trx) => changesRow(trx, change));
  }
}
