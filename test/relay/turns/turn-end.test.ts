import { expect, test } from 'vitest';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../../src/agent/errors.ts';
import { messageSchema } from '../../../src/agent/service-schema.ts';
import { toReadReply } from '../../../src/relay/replies/reply-blocks.ts';
import { TurnEnded } from '../../../src/relay/runtime/turn-exceptions.ts';
import { countTools, outcomeOfError } from '../../../src/relay/turns/turn-end.ts';

function replyWith(names: readonly string[]) {
  const content = names.map((name, index) => ({ type: 'tool_use', id: `u${index}`, name, input: {} }));
  const message = { id: 'm', task_id: 't', created_at: 'c', role: 'assistant', content };
  return toReadReply(messageSchema.parse(message));
}

test('countTools counts the calls of each tool', () => {
  expect(countTools(replyWith(['search', 'run', 'search']))).toEqual({ search: 2, run: 1 });
});

test('countTools names at most fifty tools, with short names', () => {
  const names = Array.from({ length: 70 }, (_, index) => `${index} ${'n'.repeat(10_000)}`);
  const tools = countTools(replyWith([...names, ...names]));
  expect(Object.keys(tools)).toHaveLength(51);
  expect(Object.values(tools).reduce((sum, times) => sum + times, 0)).toBe(140);
  expect(tools).toMatchObject({ others: 40 });
  expect(Math.max(...Object.keys(tools).map((name) => name.length))).toBeLessThanOrEqual(100);
});

const details = { sentence: 'Check AGENT_BASE_URL.', outcome: 'unknown' } as const;
const nothing = { task: false, message: false };
const task = { task: true, message: false };
const all = { task: true, message: true };

test('the message of an error that ends a turn is logged, and quotes nobody', () => {
  const end = new TurnEnded('refused', 'The agent service refused “the secret of my sheep”.');
  expect(end.sentence).toContain('sheep');
  expect(end.message).not.toContain('sheep');
});

test.each([
  [new AgentError('not_understood', details), nothing, /couldn't accept your message, so it wasn't sent/],
  [new AgentError('not_understood', details), task, /may or may not have reached the agent/],
  [
    new AgentError('not_understood', details),
    all,
    /can't read the agent's answer.* The agent has your message/,
  ],
  [
    new AgentError('not_understood', { ...details, isTooLarge: true }),
    all,
    /too large for me to read. Continue in a new thread/,
  ],
  [
    new AgentRejectedError({ ...details, reason: 'no credit' }),
    task,
    /“no credit”. Change it and send it again/,
  ],
  [
    new AgentRejectedError({ ...details, reason: 'no credit' }),
    all,
    /can't read the agent's answer.*“no credit”. The agent has/,
  ],
  [new AgentNotFoundError(details), nothing, /couldn't accept your message, so it wasn't sent/],
  [new AgentNotFoundError(details), task, /no longer has this conversation/],
  [new AgentNotFoundError(details), all, /no longer has this conversation/],
])(
  'an error of the service (%#) says what became of the message, and nothing that is for operators',
  (error, has, said) => {
    const { outcome, sentence } = outcomeOfError(error, has);
    expect(outcome).toBe('refused');
    expect(sentence).toMatch(said);
    expect(sentence).not.toContain('AGENT_BASE_URL');
  },
);
