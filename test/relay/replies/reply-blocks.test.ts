import { expect, test } from 'vitest';
import { messageSchema } from '../../../src/agent/service-schema.ts';
import { replyFingerprint, toReplyBlock } from '../../../src/relay/replies/reply-blocks.ts';
import { toolSteps } from '../../../src/render/messages/tool-steps.ts';

const long = 'An output that goes on and on. '.repeat(100_000);

test('a reply keeps what the step of a tool call shows, and nothing else of the call', () => {
  const call = { id: 'a', name: 'run', input: { description: 'Count', code: long, more: [long, long] } };
  const list = {
    id: 'b',
    name: 'read',
    input: { rows: Array.from({ length: 50_000 }, (_, at) => ({ at })) },
  };
  const result = { toolUseId: 'a', content: long };
  const kept = [
    toReplyBlock({ kind: 'tool_use', ...call }),
    toReplyBlock({ kind: 'tool_use', ...list }),
    toReplyBlock({ kind: 'tool_result', ...result }),
  ];
  expect(JSON.stringify(kept).length).toBeLessThan(50_000);
  const whole = [
    { kind: 'tool_use', ...call },
    { kind: 'tool_use', ...list },
    { kind: 'tool_result', ...result },
  ] as const;
  expect(toolSteps(kept)).toEqual(toolSteps(whole));
});

test('a reply keeps the text of a block of an unknown kind', () => {
  const block = toReplyBlock({ kind: 'other', type: 'image', raw: { text: 'A note', data: long } });
  expect(block).toEqual({ kind: 'other', type: 'image', raw: { text: 'A note' } });
});

/** The fingerprint of a reply with these blocks, as the service sends them. */
function fingerprintOf(content: readonly object[], status = 'streaming'): string {
  const ids = { id: 'm', task_id: 't', created_at: '2026-01-01T00:00:00Z' };
  const empty = { stop_reason: null, finish_reason: null, started_at: null, completed_at: null, error: null };
  return replyFingerprint(
    messageSchema.parse({ ...ids, ...empty, role: 'assistant', platform: null, status, content }),
  );
}

const text = (said: string) => ({ type: 'text', text: said });
const call = (input: object) => ({ type: 'tool_use', id: 'c', name: 'run', input });

test.each([
  ['text that grows', [text('The mean')], [text('The mean is')]],
  ['text that is rewritten at the same length', [text('The mean is 4')], [text('The mean is 5')]],
  ['a thought that grows', [{ type: 'thinking', text: 'a' }], [{ type: 'thinking', text: 'ab' }]],
  ['a thought that is rewritten', [{ type: 'thinking', text: 'a' }], [{ type: 'thinking', text: 'b' }]],
  ['an unknown block that grows', [{ type: 'x', said: 'a' }], [{ type: 'x', said: 'ab' }]],
  ['an input that comes after its call', [call({})], [call({ code: 'x' })]],
  ['an input that is rewritten', [call({ code: 'x', at: [1] })], [call({ code: 'x', at: [2] })]],
  ['a result that comes', [call({})], [call({}), { type: 'tool_result', tool_use_id: 'c', content: 'done' }]],
])('the fingerprint changes with %s', (_, before, after) => {
  expect(fingerprintOf(after)).not.toBe(fingerprintOf(before));
});

test('the fingerprint changes with the status', () => {
  expect(fingerprintOf([], 'streaming')).not.toBe(fingerprintOf([], 'pending'));
});

test('the same blocks have the same fingerprint, whatever link a picture has this time', () => {
  const read = (signature: string) =>
    fingerprintOf([
      text('Look'),
      call({ code: 'x', deep: { er: 1 } }),
      { type: 'image', url: `https://a/?s=${signature}` },
    ]);
  expect(read('aaaa')).toBe(read('bbbb'));
});

test('an input as deep as responses may be has a fingerprint', () => {
  const deep: object = JSON.parse(`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`);
  expect(fingerprintOf([call(deep)])).toBe(fingerprintOf([call(deep)]));
});
