import { describe, expect, test } from 'vitest';
import { AgentError } from '../../../src/agent/errors.ts';
import { ReplyMemory } from '../../../src/relay/runtime/reply-memory.ts';

const turn = (workspace: string, id: string) => ({ workspace, id });
/** Content that takes about so many bytes. */
const content = (bytes: number) => [{ type: 'text' as const, text: 'x'.repeat(bytes / 2 - 100) }];

describe('the memory for replies of own services', () => {
  test('holds up the workspace that uses most, and no other', () => {
    const memory = new ReplyMemory(10_000);
    for (let at = 0; at < 4; at += 1) memory.keep(turn('T8', `${at}`), content(2_400));
    memory.keep(turn('T1', 'a'), content(2_000));
    memory.keep(turn('T1', 'a'), content(4_000));
    expect(() => memory.keep(turn('T8', '0'), content(2_600))).toThrow(AgentError);
    expect(() => memory.keep(turn('T8', 'new'), content(2_000))).toThrow(AgentError);
    expect(() => memory.keep(turn('T1', 'a'), content(6_000))).toThrow(AgentError);
    memory.keep(turn('T8', '0'), content(400));
  });

  test('has room again once other turns have ended', () => {
    const memory = new ReplyMemory(10_000);
    memory.keep(turn('T8', 'a'), content(6_000));
    expect(() => memory.keep(turn('T8', 'b'), content(6_000))).toThrow(AgentError);
    memory.release(turn('T8', 'a'));
    memory.keep(turn('T8', 'b'), content(6_000));
  });

  test('counts what steps and unknown blocks hold', () => {
    const memory = new ReplyMemory(10_000);
    const step = { type: 'tool_use' as const, id: 't1', name: 'run', input: { code: 'x'.repeat(6_000) } };
    expect(() => memory.keep(turn('T8', 'a'), [step])).toThrow(AgentError);
  });
});
