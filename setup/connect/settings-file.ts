import { readFileSync } from 'node:fs';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { settingRows } from '../../src/config/environment-and-secret-files.ts';

/** Where secrets go: into `.env` itself, or each into a file of its own, which `.env` names. */
export type SecretPlace = 'env' | 'files';

const SECRETS_FOLDER = 'secrets';
const SECRET_SETTINGS = settingRows().flatMap(({ name, secret }) => (secret ? [name] : []));
const HEADER = '# Settings of Taskthread; docs/settings.md lists all of them.\n';

/** The settings in `.env` of a folder, and the secrets beside it. */
export class SettingsFile {
  readonly path: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #text: string;

  constructor(folder: string, environment: Readonly<Record<string, string | undefined>> = process.env) {
    this.#folder = folder;
    this.path = path.join(folder, '.env');
    this.#environment = environment;
    this.#text = readIfThere(this.path) ?? HEADER;
  }

  /** Where the secrets are now, if there are any. */
  get secretPlace(): SecretPlace | undefined {
    const set = this.#values();
    if (SECRET_SETTINGS.some((name) => set[`${name}_FILE`])) return 'files';
    return SECRET_SETTINGS.some((name) => set[name]) ? 'env' : undefined;
  }

  /** A setting's value from `.env`, the secret's file, or the environment. */
  get(name: string): string | undefined {
    const set = this.#values();
    const file = set[`${name}_FILE`];
    const secret = file ? readIfThere(path.resolve(this.#folder, file))?.trim() : undefined;
    return set[name] || secret || this.#environment[name] || undefined;
  }

  /** Settings for a process: the environment's, and those of `.env` in their place. */
  environment(): Record<string, string> {
    const set = this.#values();
    const shadowed = SECRET_SETTINGS.filter((name) => set[name] || set[`${name}_FILE`]);
    const others = Object.entries(this.#environment).filter(
      ([name]) => !shadowed.some((secret) => name === secret || name === `${secret}_FILE`),
    );
    const own = Object.entries(set).filter(([, value]) => value !== '');
    return Object.fromEntries([...others, ...own].flatMap(([name, value]) => (value ? [[name, value]] : [])));
  }

  /** Settings whose value in the environment takes precedence over a different one in `.env`, at `npm start`. */
  conflicts(): string[] {
    const names = Object.keys(this.#values()).map((name) => name.replace(/_FILE$/, ''));
    return names.filter((name) => {
      const outside = this.#environment[name];
      return outside !== undefined && outside !== '' && outside !== this.get(name);
    });
  }

  /**
   * Writes settings (undefined removes one), all or none, so that only their owner can read them. Secrets go to `place`,
   * also those that were elsewhere before. Throws if the folder cannot be written.
   */
  async save(changes: Readonly<Record<string, string | undefined>>, place: SecretPlace): Promise<void> {
    const before = this.#values();
    const secrets = new Map<string, string | undefined>();
    for (const name of SECRET_SETTINGS) {
      const isHere = Boolean(before[name] || before[`${name}_FILE`]);
      if (name in changes) secrets.set(name, changes[name]);
      else if (isHere) secrets.set(name, this.get(name));
    }
    let text = this.#text;
    for (const [name, value] of Object.entries(changes))
      if (!SECRET_SETTINGS.includes(name)) text = withSetting(text, name, value);
    for (const [name, value] of secrets) {
      const file = path.posix.join(SECRETS_FOLDER, name.toLowerCase());
      const inFile = place === 'files' && value !== undefined;
      if (inFile) await this.#writeSecret(file, value);
      text = withSetting(text, name, inFile ? undefined : value);
      text = withSetting(text, `${name}_FILE`, inFile ? file : undefined);
    }
    await writeWhole(this.path, text);
    this.#text = text;
    for (const name of secrets.keys()) {
      const file = before[`${name}_FILE`];
      if (file?.startsWith(`${SECRETS_FOLDER}/`) && this.#values()[`${name}_FILE`] === undefined)
        await rm(path.join(this.#folder, file), { force: true });
    }
  }

  async #writeSecret(file: string, value: string): Promise<void> {
    await mkdir(path.join(this.#folder, SECRETS_FOLDER), { recursive: true, mode: 0o700 });
    await writeWhole(path.join(this.#folder, file), `${value}\n`);
  }

  #values(): Record<string, string | undefined> {
    return parseEnv(this.#text);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The text of a `.env` with one setting changed; its other lines and comments stay as they are. */
export function withSetting(text: string, name: string, value: string | undefined): string {
  const line = value === undefined ? undefined : `${name}=${quoted(value)}`;
  const pattern = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*\\n?`, 'gm');
  let isPlaced = false;
  const changed = text.replace(pattern, () => {
    const first = !isPlaced;
    isPlaced = true;
    return first && line !== undefined ? `${line}\n` : '';
  });
  if (isPlaced || line === undefined) return changed;
  return `${changed}${changed === '' || changed.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** Quotes only what needs it, because `docker run --env-file` takes quotes for a part of the value. */
function quoted(value: string): string {
  if (/[\r\n]/.test(value)) throw new Error('A setting cannot have more than one line.');
  if (!/[\s#'"`\\]/.test(value)) return value;
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark));
  if (quote === undefined) throw new Error('A setting cannot contain all three kinds of quotes.');
  return `${quote}${value}${quote}`;
}

/** Writes a file at once, whole or not at all, readable by its owner only. */
async function writeWhole(target: string, text: string): Promise<void> {
  const file = await realpath(target).catch(() => target);
  const draft = `${file}.${process.pid}.new`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
