import { expect, test } from 'vitest';
import { ServiceAccounts } from '../../../src/relay/accounts/service-accounts.ts';
import { Accounts, noAccount, settingsAccount } from '../../../src/store/accounts.ts';
import { silent } from '../../silent.ts';
import { freshDatabase } from '../../store/postgres.ts';

const { kysely } = await freshDatabase();
const accounts = new Accounts(kysely);

test("without SECRET_KEY no workspace with an account of its own uses the operator's", async () => {
  const own = { workspace: 'T1', account: 'own', base_url: 'https://agent.example/v1', set_by: 'U1' };
  await accounts.put({ ...own, sealed: 'what nobody can open' });
  const known = new ServiceAccounts({
    store: { accounts },
    keyring: undefined,
    shared: { baseUrl: 'https://agent.example/v1', apiKey: 'the-key-of-the-operator' },
    options: { readsPerSecond: 1 },
    own: {},
    gateOf: () => ({ enter: () => {}, refused: () => {}, accepted: () => {}, refusedSince: undefined }),
    onSecret: () => () => {},
    log: silent,
  });
  await known.refresh(true);
  expect(known.current('T1')).toBe(noAccount);
  expect(known.current('T2')).toBe(settingsAccount);
  await known.close();
});
