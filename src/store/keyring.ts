import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** How a sealed text begins: the form, then the key's id. */
const form = 'v1';
const cipher = 'aes-256-gcm';
/** Bytes of a nonce and of the mark that shows a change, as GCM wants them. */
const nonceBytes = 12;
const markBytes = 16;

/** What is sealed cannot be read. */
export class SealError extends Error {
  readonly code: 'unknown_key' | 'changed';

  constructor(code: SealError['code'], cause?: unknown) {
    super(
      code === 'unknown_key'
        ? 'It was sealed under a key that SECRET_KEY does not hold: add the key that was used before, behind a comma.'
        : 'It was changed in the database, or belongs to another row: install the app again, or set the account again.',
      { cause },
    );
    this.name = 'SealError';
    this.code = code;
  }
}

interface Key {
  id: string;
  bytes: Buffer;
}

/**
 * Seals what the database keeps of tokens and service keys, by AES-256-GCM. Each key has an id of its own making, so
 * that old and new keys live side by side while one is changed.
 */
export class Keyring {
  readonly #current: Key;
  readonly #keys: ReadonlyMap<string, Key>;

  /** `secrets`: the keys of the settings; new texts are sealed under the first. Throws where there is none. */
  constructor(secrets: readonly string[]) {
    const keys = secrets.map(derive);
    const [current] = keys;
    if (current === undefined) throw new TypeError('A keyring needs a key.');
    this.#current = current;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** Seals a text for one place (its table and row): nowhere else can it be opened. */
  seal(text: string, place: readonly string[]): string {
    const nonce = randomBytes(nonceBytes);
    const head = `${form}.${this.#current.id}`;
    const sealing = createCipheriv(cipher, this.#current.bytes, nonce);
    sealing.setAAD(boundTo(head, place));
    const sealed = Buffer.concat([
      nonce,
      sealing.update(text, 'utf8'),
      sealing.final(),
      sealing.getAuthTag(),
    ]);
    return `${head}.${sealed.toString('base64url')}`;
  }

  /** The text that was sealed for this place. Throws SealError. */
  open(sealed: string, place: readonly string[]): string {
    const [given, id = '', body = '', ...more] = sealed.split('.');
    if (given !== form || more.length > 0) throw new SealError('changed');
    const key = this.#keys.get(id);
    if (key === undefined) throw new SealError('unknown_key');
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < nonceBytes + markBytes) throw new SealError('changed');
    const opening = createDecipheriv(cipher, key.bytes, bytes.subarray(0, nonceBytes), {
      authTagLength: markBytes,
    });
    opening.setAAD(boundTo(`${form}.${id}`, place));
    opening.setAuthTag(bytes.subarray(-markBytes));
    try {
      return Buffer.concat([
        opening.update(bytes.subarray(nonceBytes, -markBytes)),
        opening.final(),
      ]).toString();
    } catch (error) {
      throw new SealError('changed', error);
    }
  }

  /** Whether the key is there that a text is sealed under. */
  knows(sealed: string): boolean {
    return this.#keys.has(sealed.split('.')[1] ?? '');
  }

  /** Whether a text is sealed under the first key. */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${form}.${this.#current.id}.`);
  }
}

function derive(secret: string): Key {
  const part = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
  return { id: part('taskthread key id', 6).toString('hex'), bytes: part('taskthread sealed rows', 32) };
}

function boundTo(head: string, place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify([head, ...place]));
}
