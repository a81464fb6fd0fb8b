import { expect, test } from 'vitest';
import { ServiceAccounts } from '../../../src/relay/installations/service-accounts.ts';
import { Accounts, NO_ACCOUNT, SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const accounts = new Accounts(kysely);

test("without SECRET_KEY a workspace with its own account does not use the operator's", async () => {
  const own = { workspace: 'T1', account_id: 'own', base_url: 'https://agent.example/v1', set_by: 'U1' };
  await accounts.put({ ...own, encrypted_api_key: 'what nobody can decrypt' });
  const known = new ServiceAccounts({
    store: { accounts },
    keyring: undefined,
    defaultCredentials: { baseUrl: 'https://agent.example/v1', apiKey: 'the-key-of-the-operator' },
    clientOptions: { readsPerSecond: 1 },
    ownAccountOptions: {},
    keyGateFor: () => ({ enter: () => {}, refused: () => {}, accepted: () => {}, refusedSince: undefined }),
    redactSecret: () => () => {},
    log: silentLog,
  });
  await known.refresh(true);
  expect(known.currentAccount('T1')).toBe(NO_ACCOUNT);
  expect(known.currentAccount('T2')).toBe(SETTINGS_ACCOUNT);
  await known.close();
});
