import { expect, test } from 'vitest';
import { adviceForSilence, FirstAnswer } from '../../setup/connect/first-answer.ts';
import { readLogLine } from '../../setup/connect/log-line.ts';

const line = (fields: Record<string, unknown>) =>
  readLogLine(JSON.stringify({ level: 'info', msg: '', ...fields }));

test("the bot's log tells what people wait for", () => {
  expect(line({ msg: 'taskthread is running', port: 3000 })).toEqual({ kind: 'running', port: 3000 });
  expect(line({ msg: 'turn visible', step: 'visible' })).toEqual({ kind: 'heard' });
  expect(line({ msg: 'turn finished', step: 'finished', outcome: 'completed' })).toEqual({
    kind: 'answered',
  });
  expect(line({ step: 'finished', outcome: 'refused' })).toEqual({ kind: 'unanswered', outcome: 'refused' });
  expect(line({ level: 'error', msg: 'no database' })).toEqual({ kind: 'problem', message: 'no database' });
  expect(line({ level: 'info', msg: 'a step' })).toBeUndefined();
  expect(readLogLine('Taskthread cannot start: the port is taken')).toMatchObject({ kind: 'problem' });
  expect(line({ msg: 'turn sent', step: 'sent' })).toBeUndefined();
  expect(readLogLine('')).toBeUndefined();
});

test('if nothing arrives, the person is told where to look, and a failed message does not count as answered', async () => {
  const said: string[] = [];
  const advice = adviceForSilence('A1', false);
  const first = new FirstAnswer({ say: (text) => said.push(text), advice, silenceMs: 1 });
  first.take({ kind: 'running', port: 3000 });
  await expect.poll(() => said.join('\n')).toContain('Nothing has arrived yet.');
  expect(said.join('\n')).toContain('Socket Mode is on (https://api.slack.com/apps/A1/socket-mode)');
  first.take({ kind: 'heard' });
  first.take({ kind: 'unanswered', outcome: 'refused' });
  expect(first.isAnswered).toBe(false);
  expect(said.at(-1)).toContain('was not answered (refused)');
  first.take({ kind: 'answered' });
  expect(first.isAnswered).toBe(true);
  first.take({ kind: 'problem', message: 'later' });
  expect(said).not.toContain('  later');
});

test('the advice for HTTP names the Request URL instead of Socket Mode', () => {
  const advice = adviceForSilence(undefined, true).join('\n');
  expect(advice).toContain('Request URL');
  expect(advice).not.toContain('Socket Mode is on');
});
