import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { CredentialGate } from '../../../src/calls/credential-gate.ts';
import { AccountGone, ServiceAccounts } from '../../../src/relay/installations/service-accounts.ts';
import { Accounts, NO_ACCOUNT, SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { EncryptedTexts, encryptionContext, Keyring } from '../../../src/store/workspaces/encryption.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const accounts = new Accounts(kysely);

function accountsWith(keyring: Keyring | undefined): ServiceAccounts {
  return new ServiceAccounts({
    store: { accounts },
    keyring,
    defaultCredentials: { baseUrl: 'https://agent.example/v1', apiKey: 'the-key-of-the-operator' },
    clientOptions: { readsPerSecond: 1 },
    ownAccountOptions: {},
    keyGateFor: () => new CredentialGate({ setting: 'AGENT_API_KEY', log: silentLog }),
    redactSecret: () => () => {},
    log: silentLog,
  });
}

test("without SECRET_KEY a workspace with its own account does not use the operator's", async () => {
  const own = { workspace: 'T1', account_id: 'own', base_url: 'https://agent.example/v1', set_by: 'U1' };
  await accounts.put({ ...own, encrypted_api_key: 'what nobody can decrypt' });
  const known = accountsWith(undefined);
  await known.refresh(true);
  expect(known.currentAccount('T1')).toBe(NO_ACCOUNT);
  expect(known.currentAccount('T2')).toBe(SETTINGS_ACCOUNT);
  await known.close();
});

test('all accounts that a workspace had share its memory, and only a few retired ones keep their keys', async () => {
  const keyring = new Keyring(['a'.repeat(32)]);
  for (const account_id of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) {
    const key = { workspace: 'T3', account_id };
    const encrypted_api_key = keyring.encrypt('the-key-of-one', encryptionContext.account(key));
    await accounts.put({ ...key, base_url: 'https://agent.example/v1', set_by: 'U1', encrypted_api_key });
  }
  const withKeys = (await new EncryptedTexts(kysely).all()).filter(({ workspace }) => workspace === 'T3');
  expect(withKeys.map(({ key }) => key).sort()).toEqual(['a3', 'a4', 'a5', 'a6']);
  const known = accountsWith(keyring);
  await known.refresh(true);
  expect(() => known.agentClient('a2')).toThrow(AccountGone);
  expect(known.agentClient('a3').uploadMemory).toBe(known.agentClient('a6').uploadMemory);
  const { responseMemory } = known.ownAccountOptions('T3');
  expect(known.ownAccountOptions('T3').responseMemory).toEqual(responseMemory);
  expect(known.ownAccountOptions('T4').responseMemory).not.toEqual(responseMemory);
  const withoutKey = known.agentClient('a3');
  await kysely
    .updateTable('accounts')
    .set({ encrypted_api_key: null, change_seq: sql<number>`nextval('installation_change_seq')` })
    .where('account_id', '=', 'a3')
    .execute();
  await known.refresh(true);
  await expect(withoutKey.getTask('of a turn that still has the client')).rejects.toThrow(AccountGone);
  await known.close();
});
