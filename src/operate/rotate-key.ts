import { type Config, readCommandConfig } from '../config.ts';
import type { Store } from '../store/store.ts';
import { DecryptionError, encryptionContext, Keyring } from '../store/workspaces/keyring.ts';
import { commandLine, parseOptions, runCommand, UsageError, withOperatorStore } from './command-runner.ts';

const USAGE = `${commandLine('rotate-key')}, with SECRET_KEY=<new>,<old>`;
const HELP = `Encrypts all tokens, keys and instructions again with the first key.\n\nUsage: ${USAGE}`;

/** The command reports its progress each time it has looked at this many rows. */
const PROGRESS_ROWS = 1_000;

/**
 * Encrypts all tokens, keys and instructions again with the first key of SECRET_KEY. Safe while the app runs with the same keys, and
 * after a failure. Returns how many rows were encrypted again, how many changed meanwhile, and a message for each row
 * that no key can decrypt.
 */
export async function rotateKey(
  store: Pick<Store, 'installations' | 'accounts' | 'settings'>,
  keyring: Keyring,
  print: (line: string) => void,
): Promise<{ reencrypted: number; changed: number; unreadable: string[] }> {
  const unreadable: string[] = [];
  const result = { reencrypted: 0, changed: 0, unreadable };
  let rows = 0;
  const reencrypt = async (
    what: string,
    encrypted: string,
    context: readonly string[],
    put: (encrypted: string) => Promise<boolean>,
  ): Promise<void> => {
    rows += 1;
    if (rows % PROGRESS_ROWS === 0) print(`Looked at ${rows} rows so far.`);
    if (keyring.usesCurrentKey(encrypted)) return;
    let text: string;
    try {
      text = keyring.decrypt(encrypted, context);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      unreadable.push(`${what}: ${error.message}`);
      return;
    }
    const done = await put(keyring.encrypt(text, context));
    if (done) result.reencrypted += 1;
    // A token was renewed meanwhile, perhaps with the old key.
    else result.changed += 1;
  };
  const { installations, accounts, settings } = store;
  for (const { workspace, encrypted } of await installations.allEncrypted()) {
    const context = encryptionContext.installation(workspace);
    await reencrypt(`the tokens of ${workspace}`, encrypted, context, (text) =>
      installations.replaceEncrypted(workspace, encrypted, text),
    );
  }
  for (const { encrypted, ...key } of await accounts.allEncrypted()) {
    const what = `the key of the account ${key.account_id} of ${key.workspace}`;
    await reencrypt(what, encrypted, encryptionContext.account(key), (text) =>
      accounts.replaceEncrypted(key, encrypted, text),
    );
  }
  for (const { encrypted, ...key } of await settings.allEncrypted()) {
    const what = `the instructions of ${key.channel} in ${key.workspace}`;
    await reencrypt(what, encrypted, encryptionContext.setting(key.workspace), (text) =>
      settings.replaceEncrypted(key, encrypted, text),
    );
  }
  return result;
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
