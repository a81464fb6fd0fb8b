import { type Config, readCommandConfig } from '../config/environment-and-secret-files.ts';
import type { Store } from '../store/store.ts';
import {
  DecryptionError,
  type EncryptedRow,
  encryptionContext,
  Keyring,
} from '../store/workspaces/encryption.ts';
import { commandLine, parseOptions, runCommand, UsageError, withOperatorStore } from './command-runner.ts';

const USAGE = `${commandLine('rotate-key')}, with SECRET_KEY=<new>,<old>`;
const HELP = `Encrypts all tokens, keys, instructions and prompts again with the first key.\n\nUsage: ${USAGE}`;

/** The command reports its progress each time it has looked at this many rows. */
const PROGRESS_ROWS = 1_000;

/**
 * Encrypts all tokens, keys, instructions and prompts again with the first key of SECRET_KEY. Safe while the app runs with the same keys, and
 * after a failure. Returns how many rows were encrypted again, how many changed meanwhile, and a message for each row
 * that no key can decrypt.
 */
export async function rotateKey(
  { encryptedTexts }: Pick<Store, 'encryptedTexts'>,
  keyring: Keyring,
  print: (line: string) => void,
): Promise<{ reencrypted: number; changed: number; unreadable: string[] }> {
  const unreadable: string[] = [];
  const result = { reencrypted: 0, changed: 0, unreadable };
  for (const [index, row] of (await encryptedTexts.all()).entries()) {
    if ((index + 1) % PROGRESS_ROWS === 0) print(`Looked at ${index + 1} rows so far.`);
    if (keyring.usesCurrentKey(row.encrypted)) continue;
    const { what, context } = describeRow(row);
    try {
      const text = keyring.decrypt(row.encrypted, context);
      const isReplaced = await encryptedTexts.replace(row, keyring.encrypt(text, context));
      // A token was renewed meanwhile, perhaps with the old key.
      result[isReplaced ? 'reencrypted' : 'changed'] += 1;
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      unreadable.push(`${what}: ${error.message}`);
    }
  }
  return result;
}

function describeRow({ kind, workspace, key }: EncryptedRow): { what: string; context: readonly string[] } {
  const { installation, account, setting } = encryptionContext;
  if (kind === 'installation')
    return { what: `the tokens of ${workspace}`, context: installation(workspace) };
  if (kind !== 'account')
    return { what: `the ${kind} of ${key} in ${workspace}`, context: setting(workspace) };
  const context = account({ workspace, account_id: key });
  return { what: `the key of the account ${key} of ${workspace}`, context };
}

function requireKeyring({ SECRET_KEY }: Config): Keyring {
  if (SECRET_KEY === undefined || SECRET_KEY.length < 2)
    throw new UsageError(USAGE, 'SECRET_KEY must contain the new key, a comma and the old key.');
  return new Keyring(SECRET_KEY);
}

if (import.meta.main) {
  await runCommand(HELP, async () => {
    parseOptions(USAGE, process.argv.slice(2), {});
    const config = readCommandConfig(process.env);
    const keyring = requireKeyring(config);
    const { reencrypted, changed, unreadable } = await withOperatorStore(config, (store) =>
      rotateKey(store, keyring, (line) => console.log(line)),
    );
    console.log(`Encrypted ${reencrypted} rows again with the first key.`);
    if (changed > 0) {
      console.log(`${changed} rows changed meanwhile. Run the command again before you remove the old key.`);
    }
    for (const message of unreadable) console.log(`Not encrypted again: ${message}`);
    if (changed > 0 || unreadable.length > 0) return 1;
    console.log('Once every process runs with the first key, you can remove the others.');
    return 0;
  });
}
