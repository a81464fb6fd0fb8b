import { expect, test, vi } from 'vitest';
import { rotateKey } from '../../src/operate/rotate-key.ts';
import { Store } from '../../src/store/store.ts';
import { encryptionContext, Keyring } from '../../src/store/workspaces/encryption.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const [old, fresh] = ['k'.repeat(32), 'n'.repeat(32)];
const before = new Keyring([old]);
const both = new Keyring([fresh, old]);
const lines: string[] = [];
const rotate = () => rotateKey(store, both, (line) => lines.push(line));

async function install(workspace: string, ring: Keyring): Promise<void> {
  await store.installations.put({
    workspace,
    enterprise_id: null,
    is_enterprise_install: false,
    name: 'One',
    bot_user_id: 'U1',
    bot_id: 'B1',
    token_expires_at: null,
    encrypted_tokens: ring.encrypt('the tokens', encryptionContext.installation(workspace)),
  });
}

test('after a change of SECRET_KEY everything is encrypted with the new key, and the old one can go', async () => {
  const key = { workspace: 'T1', account_id: 'a1' };
  await install('T1', before);
  const sealed = before.encrypt('an api key', encryptionContext.account(key));
  await store.accounts.put({
    ...key,
    base_url: 'https://agent.example/v1',
    set_by: 'U9',
    encrypted_api_key: sealed,
  });
  const instructions = { text: 'cite PMIDs', set_by: 'U1', set_at: new Date() };
  await new Store(kysely, undefined, before).settings.set('T1', 'C1', 'U1', { instructions });
  expect(await rotate()).toEqual({ reencrypted: 3, changed: 0, unreadable: [] });
  const alone = new Keyring([fresh]);
  const row = await store.installations.get('T1');
  expect(alone.decrypt(row?.encrypted_tokens ?? '', encryptionContext.installation('T1'))).toBe('the tokens');
  const account = await store.accounts.get(key);
  expect(alone.decrypt(account?.encrypted_api_key ?? '', encryptionContext.account(key))).toBe('an api key');
  const { settings } = new Store(kysely, undefined, alone);
  expect((await settings.get('T1', 'C1')).instructions).toEqual(instructions);
  expect(await rotate()).toEqual({ reencrypted: 0, changed: 0, unreadable: [] });
});

test('a row that no key can decrypt is reported, and the others are encrypted again', async () => {
  await install('T2', new Keyring(['x'.repeat(32)]));
  await install('T3', before);
  const { reencrypted, unreadable } = await rotate();
  expect(reencrypted).toBe(1);
  expect(unreadable).toEqual([expect.stringMatching(/^the tokens of T2: .*SECRET_KEY/)]);
});

test('a rotation of many rows reports its progress', async () => {
  const encrypted = both.encrypt('the tokens', encryptionContext.installation('T4'));
  const many = Array.from({ length: 2_000 }, (_, index) => ({
    kind: 'installation' as const,
    workspace: `T4${index}`,
    key: '',
    encrypted,
  }));
  vi.spyOn(store.encryptedTexts, 'all').mockResolvedValue(many);
  await rotate();
  expect(lines).toEqual(['Looked at 1000 rows so far.', 'Looked at 2000 rows so far.']);
});
