import { expect, test } from 'vitest';
import { parseEnvelope } from '../../src/listeners/envelope.ts';
import { parseWorkflowStep } from '../../src/listeners/event-parser.ts';

/** What is read of an event of the Events API. */
function read(event: Record<string, unknown>) {
  const envelope = parseEnvelope({ type: 'event_callback', team_id: 'T1', event_id: 'Ev1', event });
  return envelope && parseWorkflowStep(envelope);
}

const event = {
  type: 'function_executed',
  function: { id: 'Fn1', callback_id: 'ask_agent', title: 'Ask the agent', app_id: 'A1' },
  inputs: {
    channel: 'C1',
    question: 'Why?',
    label: ' Weekly ',
    person: 'U1',
    model: 'Max',
    skill: '',
    extra: 1,
  },
  function_execution_id: 'Fx1',
  workflow_execution_id: 'Wx1',
  event_ts: '1700000000.000100',
  bot_access_token: 'xwfp-1',
};

test('a run of the step is read without its token', () => {
  expect(read(event)).toEqual({
    workspace: 'T1',
    execution_id: 'Fx1',
    channel: 'C1',
    waits_for_answer: false,
    content: { text: 'Why?', choices: { model: 'max' }, step: { label: 'Weekly', person: 'U1' } },
  });
  expect(read({ ...event, inputs: { ...event.inputs, wait_for_answer: true } })?.waits_for_answer).toBe(true);
});

test.each([
  ['nothing', undefined],
  ['no object', 'C1'],
  ['values of other types', { channel: ['C1'], question: 7, person: 'no id', wait_for_answer: 'yes' }],
])('a run whose inputs are %s is still read, so that it can be answered', (_, inputs) => {
  const content = { text: '', choices: {}, step: {} };
  const run = { workspace: 'T1', execution_id: 'Fx1', channel: '', waits_for_answer: false, content };
  expect(read({ ...event, inputs })).toEqual(run);
});

test('runs of other steps and other events are not read', () => {
  expect(read({ ...event, function: { callback_id: 'another' } })).toBeUndefined();
  expect(read({ ...event, type: 'function_completed' })).toBeUndefined();
  expect(read({ ...event, function_execution_id: undefined })).toBeUndefined();
});
