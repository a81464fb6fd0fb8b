import { expect, test } from 'vitest';
import { toReplyBlock } from '../../../src/relay/replies/reply-blocks.ts';
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
    toReplyBlock({ type: 'tool_use', ...call }),
    toReplyBlock({ type: 'tool_use', ...list }),
    toReplyBlock({ type: 'tool_result', ...result }),
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
  const block = toReplyBlock({ type: 'other', kind: 'image', raw: { text: 'A note', data: long } });
  expect(block).toEqual({ kind: 'other', type: 'image', raw: { text: 'A note' } });
});
