import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { CredentialGate } from '../../../src/calls/credential-gate.ts';
import { AccountGone, ServiceAccounts } from '../../../src/relay/installations/service-accounts.ts';
import { Accounts, SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
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

const keyring = new Keyring(['a'.repeat(32)]);
const otherKeyring = new Keyring(['b'.repeat(32)]);
const own = { workspace: 'T1', account_id: 'own' };

function setOwnAccount(under: Keyring): Promise<boolean> {
  const encrypted_api_key = under.encrypt('the-key-of-the-workspace', encryptionContext.account(own));
  return accounts.put({ ...own, base_url: 'https://agent.example/v1', set_by: 'U1', encrypted_api_key });
}

const keyNotDecrypted = expect.objectContaining({
  code: 'bad_key',
  message: expect.stringContaining('append the former key'),
});

test.each([
  ['without SECRET_KEY', undefined],
  ['under another SECRET_KEY', otherKeyring],
])('%s the own account of a workspace counts as refused, and none replaces it', async (_when, ring) => {
  await setOwnAccount(keyring);
  const known = accountsWith(ring);
  await known.refresh(true);
  expect(known.currentAccount('T1')).toBe('own');
  expect(known.currentAccount('T2')).toBe(SETTINGS_ACCOUNT);
  expect(() => known.agentClient('own')).toThrow(keyNotDecrypted);
  expect(known.refusedOwnKeyCount()).toBe(1);
  await known.close();
});

test('whoever has the client of an account waits while its key cannot be decrypted', async () => {
  await setOwnAccount(keyring);
  const known = accountsWith(keyring);
  await known.refresh(true);
  const client = known.agentClient('own');
  expect(known.refusedOwnKeyCount()).toBe(0);
  await setOwnAccount(otherKeyring);
  await known.refresh();
  await expect(client.getTask('of a turn')).rejects.toEqual(keyNotDecrypted);
  expect(known.refusedOwnKeyCount()).toBe(1);
  await setOwnAccount(keyring);
  await known.refresh();
  expect(known.agentClient('own')).toBe(client);
  expect(known.refusedOwnKeyCount()).toBe(0);
  await known.close();
});

test('all accounts that a workspace had share its memory, and only a few retired ones keep their keys, for which nobody waits', async () => {
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
  const underAnotherKey = accountsWith(otherKeyring);
  await underAnotherKey.refresh(true);
  expect(() => underAnotherKey.agentClient('a3')).toThrow(AccountGone);
  expect(() => underAnotherKey.agentClient('a6')).toThrow(keyNotDecrypted);
  // Those in use, of T1 and T3.
  expect(underAnotherKey.refusedOwnKeyCount()).toBe(2);
  await underAnotherKey.close();
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
