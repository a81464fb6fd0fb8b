import { TokenRotation } from '../../src/relay/installations/token-rotation.ts';
import type { SlackTokens } from '../../src/slack/tokens.ts';
import { openDatabase } from '../../src/store/database.ts';
import { Store } from '../../src/store/store.ts';
import { Keyring } from '../../src/store/workspaces/encryption.ts';
import { silentLog } from './silent-log.ts';

// A process to which Slack never answers when it renews a token, for a test that kills it. Prints the refresh token.
const { kysely } = await openDatabase({ url: process.argv[2] ?? '', log: silentLog });
const unused = () => Promise.reject(new Error('Slack is not asked for this.'));
const slack: SlackTokens = {
  isValid: unused,
  revoke: unused,
  workspacesOf: unused,
  renewalPermit: async () => undefined,
  renew: async (refreshToken) => {
    process.stdout.write(`${refreshToken}\n`);
    return new Promise(() => undefined);
  },
};
const deps = { store: new Store(kysely), keyring: new Keyring(['k'.repeat(32)]), slack, log: silentLog };
new TokenRotation(deps, async () => undefined, 3_000).start();
