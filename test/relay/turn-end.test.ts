import { expect, test } from 'vitest';
import { messageSchema } from '../../src/agent/schema.ts';
import { toolsIn } from '../../src/relay/turn-end.ts';

function replyWith(names: readonly string[]) {
  const content = names.map((name, index) => ({ type: 'tool_use', id: `u${index}`, name, input: {} }));
  return messageSchema.parse({ id: 'm', task_id: 't', created_at: 'c', role: 'assistant', content });
}

test('tells how often which tool was used', () => {
  expect(toolsIn(replyWith(['search', 'run', 'search']))).toEqual({ search: 2, run: 1 });
});

test('keeps at most fifty names of tools, none of them long', () => {
  const names = Array.from({ length: 70 }, (_, index) => `${index} ${'n'.repeat(10_000)}`);
  const tools = toolsIn(replyWith([...names, ...names]));
  expect(Object.keys(tools)).toHaveLength(51);
  expect(Object.values(tools).reduce((sum, times) => sum + times, 0)).toBe(140);
  expect(tools).toMatchObject({ others: 40 });
  expect(Math.max(...Object.keys(tools).map((name) => name.length))).toBeLessThanOrEqual(100);
});
