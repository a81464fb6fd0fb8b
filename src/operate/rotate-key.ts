import { type Config, readConfig } from '../config.ts';
import type { Store } from '../store/store.ts';
import { encryptionContext } from '../store/workspaces/encryption-context.ts';
import { DecryptionError, Keyring } from '../store/workspaces/keyring.ts';
import { runCommand, UsageError } from './command-runner.ts';
import { withOperatorStore } from './operator-store.ts';

const USAGE = 'npm run rotate-key, with SECRET_KEY=<new>,<old>';

/**
 * Seals all tokens and keys under the first key of SECRET_KEY; may be given while the app runs with the same keys, and
 * again after a failure. The answer is how many rows are under that key now, how many changed meanwhile, and a sentence
 * for each that no key opens.
 */
export async function rotateKey(
  store: Pick<Store, 'installations' | 'accounts'>,
  keyring: Keyring,
): Promise<{ resealed: number; left: number; unreadable: string[] }> {
  const unreadable: string[] = [];
  const count = { resealed: 0, left: 0, unreadable };
  const reencrypt = async (
    what: string,
    sealed: string,
    context: readonly string[],
    put: (sealed: string) => Promise<boolean>,
  ): Promise<void> => {
    if (keyring.usesCurrentKey(sealed)) return;
    let text: string;
    try {
      text = keyring.decrypt(sealed, context);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      unreadable.push(`${what}: ${error.message}`);
      return;
    }
    const done = await put(keyring.encrypt(text, context));
    if (done) count.resealed += 1;
    // A token that was renewed meanwhile: whoever renewed it may have done so under the key before.
    else count.left += 1;
  };
  const { installations, accounts } = store;
  for (const { workspace, sealed } of await installations.allEncrypted()) {
    const context = encryptionContext.installation(workspace);
    await reencrypt(`the tokens of ${workspace}`, sealed, context, (text) =>
      installations.replaceEncrypted(workspace, sealed, text),
    );
  }
  for (const { sealed, ...key } of await accounts.allEncrypted()) {
    const what = `the key of the account ${key.account} of ${key.workspace}`;
    await reencrypt(what, sealed, encryptionContext.account(key), (text) =>
      accounts.replaceEncrypted(key, sealed, text),
    );
  }
  return count;
}

function requireKeyring({ SECRET_KEY }: Config): Keyring {
  if (SECRET_KEY === undefined || SECRET_KEY.length < 2)
    throw new UsageError(USAGE, 'SECRET_KEY must hold the new key and, behind a comma, the one before.');
  return new Keyring(SECRET_KEY);
}

if (import.meta.main) {
  await runCommand(async () => {
    const config = readConfig(process.env);
    const keyring = requireKeyring(config);
    const { resealed, left, unreadable } = await withOperatorStore(config, (store) =>
      rotateKey(store, keyring),
    );
    console.log(`${resealed} rows are sealed under the first key now.`);
    if (left > 0) {
      console.log(`${left} changed meanwhile: give the command again before you take the old key away.`);
    }
    for (const sentence of unreadable) console.log(`Not sealed anew: ${sentence}`);
    if (left > 0 || unreadable.length > 0) return 1;
    console.log('The keys behind the first can be taken away once every process runs with the first.');
    return 0;
  });
}
