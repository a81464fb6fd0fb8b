import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { changesRow, Queries } from '../queries.ts';
import type { AccountKey } from '../schema.ts';
import { inChangeSequence, nextChangeSeq } from './installations.ts';

/** An encrypted text begins with the format version, then the key's id. */
const FORMAT_VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
/** The lengths of a nonce and an authentication tag in bytes, as GCM requires. */
const NONCE_BYTES = 12;
const AUTH_TAG_BYTES = 16;

/** An encrypted text cannot be decrypted. */
export class DecryptionError extends Error {
  readonly code: 'unknown_key' | 'changed';

  constructor(code: DecryptionError['code'], cause?: unknown) {
    super(
      code === 'unknown_key'
        ? 'It was encrypted with a key that SECRET_KEY does not contain: append the former key after a comma.'
        : 'It was changed in the database, or belongs to another row: reinstall the app, or set the account again.',
      { cause },
    );
    this.name = 'DecryptionError';
    this.code = code;
  }
}

interface Key {
  id: string;
  bytes: Buffer;
}

/**
 * Encrypts the tokens, API keys and signed texts in the database with AES-256-GCM. Each key has an id derived from it, so that the old
 * and the new key can be used side by side during a change.
 */
export class Keyring {
  readonly #current: Key;
  readonly #keys: ReadonlyMap<string, Key>;

  /** `secrets`: the keys of the settings; the first encrypts. Throws if there is none. */
  constructor(secrets: readonly string[]) {
    const keys = secrets.map(deriveKey);
    const [current] = keys;
    if (current === undefined) throw new TypeError('A keyring needs a key.');
    this.#current = current;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** Encrypts a text for one context (its table and row): it cannot be decrypted in another. */
  encrypt(text: string, context: readonly string[]): string {
    const nonce = randomBytes(NONCE_BYTES);
    const head = `${FORMAT_VERSION}.${this.#current.id}`;
    const cipher = createCipheriv(ALGORITHM, this.#current.bytes, nonce);
    cipher.setAAD(additionalData(head, context));
    const encrypted = Buffer.concat([
      nonce,
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${head}.${encrypted.toString('base64url')}`;
  }

  /** Decrypts a text of this context. Throws DecryptionError. */
  decrypt(encrypted: string, context: readonly string[]): string {
    const [given, id = '', body = '', ...more] = encrypted.split('.');
    if (given !== FORMAT_VERSION || more.length > 0) throw new DecryptionError('changed');
    const key = this.#keys.get(id);
    if (key === undefined) throw new DecryptionError('unknown_key');
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < NONCE_BYTES + AUTH_TAG_BYTES) throw new DecryptionError('changed');
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: AUTH_TAG_BYTES,
    });
    decipher.setAAD(additionalData(`${FORMAT_VERSION}.${id}`, context));
    decipher.setAuthTag(bytes.subarray(-AUTH_TAG_BYTES));
    try {
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES, -AUTH_TAG_BYTES)),
        decipher.final(),
      ]).toString();
    } catch (error) {
      throw new DecryptionError('changed', error);
    }
  }

  /** Whether the key that encrypted a text is available. */
  hasKeyFor(encrypted: string): boolean {
    return this.#keys.has(encrypted.split('.')[1] ?? '');
  }

  /** Whether the first key encrypted a text. */
  usesCurrentKey(encrypted: string): boolean {
    return encrypted.startsWith(`${FORMAT_VERSION}.${this.#current.id}.`);
  }
}

/** The row that an encrypted text belongs to: it cannot be decrypted as another row's. A channel may get another id. */
export const encryptionContext = {
  installation: (workspace: string) => ['installations', workspace],
  account: (key: AccountKey) => ['accounts', key.workspace, key.account_id],
  setting: (workspace: string) => ['settings', workspace],
} as const;

function deriveKey(secret: string): Key {
  const part = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
  return { id: part('taskthread key id', 6).toString('hex'), bytes: part('taskthread sealed rows', 32) };
}

function additionalData(head: string, context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([head, ...context]));
}

/** The columns of settings with texts that a person has signed. */
export const SIGNED_COLUMNS = ['instructions', 'prompts'] as const;
type SignedColumn = (typeof SIGNED_COLUMNS)[number];

/** An encrypted text, and the row that it belongs to. */
export interface EncryptedRow {
  /** The tokens of an installation, the key of an account, or a text in the settings of a channel, by its column. */
  kind: 'installation' | 'account' | SignedColumn;
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
  ${SIGNED_COLUMNS.map(
    (column) => `
  union all select '${column}', workspace, channel, ${column} ->> 'encrypted' from settings
  where ${column} is not null`,
  ).join('')}`;

/** All encrypted texts, for a change of SECRET_KEY. */
export class EncryptedTexts extends Queries {
  async all(): Promise<EncryptedRow[]> {
    return this.rows(sql.raw<EncryptedRow>(ALL_ENCRYPTED));
  }

  /** Replaces the text of a row; false if it has changed meanwhile. */
  async replace({ kind, workspace, key, encrypted }: EncryptedRow, text: string): Promise<boolean> {
    const signed = (column: SignedColumn) => sql`
      update settings set ${sql.ref(column)} = jsonb_set(${sql.ref(column)}, '{encrypted}', to_jsonb(${text}::text))
      where (workspace, channel) = (${workspace}, ${key}) and ${sql.ref(column)} ->> 'encrypted' = ${encrypted}`;
    const change = {
      installation: sql`
        update installations set encrypted_tokens = ${text}, change_seq = ${nextChangeSeq}
        where workspace = ${workspace} and encrypted_tokens = ${encrypted}`,
      account: sql`
        update accounts set encrypted_api_key = ${text}, change_seq = ${nextChangeSeq}
        where (workspace, account_id) = (${workspace}, ${key}) and encrypted_api_key = ${encrypted}`,
      instructions: signed('instructions'),
      prompts: signed('prompts'),
    }[kind];
    return inChangeSequence(this.db, (trx) => changesRow(trx, change));
  }
}
