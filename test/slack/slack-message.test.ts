import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientMsgId, keptParts, MAX_KEPT_TABLE_BYTES } from '../../src/slack/slack-message.ts';

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

test('a table beyond the limit of a message is named only, in its blocks as in its attachments', () => {
  const table = (bytes: number) => ({
    type: 'table',
    rows: [[{ type: 'raw_text', text: 'A'.repeat(bytes) }]],
  });
  const [small, large] = [table(100), table(MAX_KEPT_TABLE_BYTES - 100)];
  const left = { title: 'pasted table', is_left_out: true };
  expect(keptParts({ blocks: [small, large] })).toEqual({ blocks: [small], attachments: [left] });
  const attachments = [small, large].map((block) => ({ blocks: [block] }));
  expect(keptParts({ attachments })).toEqual({ attachments: [attachments[0], left] });
});
