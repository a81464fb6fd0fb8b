import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientMsgId } from '../../src/slack/slack-message.ts';

test('the client_msg_id is a UUID of version 5, the same for the same key', () => {
  fc.assert(
    fc.property(fc.string(), (key) => {
      const id = clientMsgId(key);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(clientMsgId(key)).toBe(id);
    }),
  );
});

test('the client_msg_id never changes between versions of this program', () => {
  expect(clientMsgId('turn-1/0')).toBe('51236fc0-c06f-5ed7-a0d7-f223dceef60b');
});

test('different keys have different ids', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      fc.pre(a !== b);
      expect(clientMsgId(a)).not.toBe(clientMsgId(b));
    }),
  );
});
