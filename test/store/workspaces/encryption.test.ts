import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecryptionError, Keyring } from '../../../src/store/workspaces/encryption.ts';

const [old, fresh] = ['o'.repeat(32), 'f'.repeat(32)];
const place = ['installations', 'T1'];

describe('a keyring', () => {
  test('decrypts what it encrypted, which is never the same twice and never plain text', () => {
    const ring = new Keyring([old]);
    fc.assert(
      fc.property(fc.string({ minLength: 4 }), (text) => {
        const [one, other] = [ring.encrypt(text, place), ring.encrypt(text, place)];
        expect(ring.decrypt(one, place)).toBe(text);
        expect(one).not.toBe(other);
        expect(one.includes(text) && /[^\w.-]/.test(text)).toBe(false);
      }),
    );
  });

  test('decrypts nothing that was encrypted for another row', () => {
    const ring = new Keyring([old]);
    const sealed = ring.encrypt('xoxb-secret', place);
    for (const other of [
      ['installations', 'T2'],
      ['accounts', 'T1'],
      ['installations'],
      ['installations,T1'],
    ])
      expect(failure(() => ring.decrypt(sealed, other))).toBe('changed');
  });

  test('decrypts nothing in which a character was changed', () => {
    const ring = new Keyring([old]);
    const sealed = ring.encrypt('xoxb-secret', place);
    const head = sealed.lastIndexOf('.') + 1;
    fc.assert(
      // The last character of base64url may hold bits that mean nothing.
      fc.property(fc.integer({ min: head, max: sealed.length - 2 }), (at) => {
        const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
        expect(failure(() => ring.decrypt(changed, place))).toBe('changed');
      }),
    );
    for (const odd of ['', 'v1', 'v2.a.b', `${sealed}.x`, sealed.slice(0, head + 8)])
      expect(failure(() => ring.decrypt(odd, place))).toMatch(/changed|unknown_key/);
  });

  test('decrypts old rows with a new key added, and tells which the new key encrypted', () => {
    const before = new Keyring([old]).encrypt('a token', place);
    const both = new Keyring([fresh, old]);
    expect(both.decrypt(before, place)).toBe('a token');
    expect(both.usesCurrentKey(before)).toBe(false);
    const after = both.encrypt('a token', place);
    expect(both.usesCurrentKey(after)).toBe(true);
    expect(new Keyring([fresh]).decrypt(after, place)).toBe('a token');
    expect(failure(() => new Keyring([fresh]).decrypt(before, place))).toBe('unknown_key');
  });
});

function failure(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DecryptionError) return error.code;
    throw error;
  }
  return 'opened';
}
