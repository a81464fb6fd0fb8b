import { expect, onTestFinished, test, vi } from 'vitest';
import type { AgentClient } from '../../../src/agent/agent-client.ts';
import { AgentError } from '../../../src/agent/errors.ts';
import { RELAY_LIMITS } from '../../../src/limits.ts';
import type { WorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import { filePatience, isTypeAllowed, reasonNotAllowed } from '../../../src/relay/sending/allowed-files.ts';
import { FileUnavailableError } from '../../../src/slack/downloadable-files.ts';

test.each([
  [['.csv'], [], true],
  [['.CSV'], [], true],
  [['text/*'], [], true],
  [['text/csv'], [], true],
  [['.tsv', 'image/*'], [], false],
  [[], ['.csv'], false],
  [['.csv'], ['text/*'], false],
  [[], ['text'], true],
])('with allowed types %j and refused types %j, a CSV is sent: %s', (allowed, refused, taken) => {
  expect(
    isTypeAllowed(
      { name: 'A.Csv', mime: 'text/csv; charset=utf-8' },
      { allowedTypes: allowed, refusedTypes: refused },
    ),
  ).toBe(taken);
});

test.each([
  ['counts.csv.gz', 'text/csv', ['text/csv'], [], false],
  ['counts.csv', 'application/vnd.ms-excel', ['text/csv'], [], true],
  ['calls.vcf', 'text/x-vcard', [], ['text/x-vcard'], false],
  ['page.txt', 'text/html', [], ['text/html'], false],
])(
  '%s, announced as %s, with allowed types %j and refused types %j: %s',
  (name, mime, allowed, refused, taken) => {
    expect(isTypeAllowed({ name, mime }, { allowedTypes: allowed, refusedTypes: refused })).toBe(taken);
  },
);

test('a file that makes its message too large is not sent', () => {
  const limits = {
    maxFileBytes: 100,
    maxMessageBytes: 100,
    maxMessageFiles: 5,
    allowedTypes: [],
    refusedTypes: [],
  };
  const file = { name: 'a.csv', mime: 'text/csv', sizeBytes: 50 };
  expect(reasonNotAllowed(file, 51, limits)).toBe('message_full');
  expect(reasonNotAllowed(file, 50, limits)).toBeUndefined();
});

test('a file that is busy is left out after five minutes, of which another failure in between counts none', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const [workspace, agent] = [{} as unknown as WorkspaceClient, {} as unknown as AgentClient];
  const judge = filePatience(RELAY_LIMITS, workspace);
  const after = (minutes: number, code: 'busy' | 'rate_limited') => {
    vi.advanceTimersByTime(minutes * 60_000);
    const error = new AgentError(code, { sentence: 'Later.', outcome: 'refused' });
    return judge(error, { agent, projectId: 'p', sentBytes: 0 });
  };
  expect(await after(0, 'busy')).toBeUndefined();
  expect(await after(1, 'rate_limited')).toBeUndefined();
  expect(await after(60, 'busy')).toBeUndefined();
  expect(await after(5, 'busy')).toBe('service_failed');
});

test.each([
  ['fails', new AgentError('unavailable', { sentence: 'Away.', outcome: 'unknown' }), 'service_failed'],
  ['is busy', new AgentError('busy', { sentence: 'Later.', outcome: 'refused' }), 'service_failed'],
  ['is withheld by Slack', new FileUnavailableError('F1', 'network'), 'broken_off'],
])(
  'a file that %s in two outages, and moves on between them, is left out for neither',
  async (_how, failure, reason) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const workspace = { wasThereAfter: () => true } as unknown as WorkspaceClient;
    const there = { requireProject: async () => ({}), hasSucceededAfter: () => true };
    const judge = filePatience(RELAY_LIMITS, workspace);
    const failAt = (sentBytes: number) => {
      vi.advanceTimersByTime(10 * 60_000);
      return judge(failure, { agent: there as unknown as AgentClient, projectId: 'p', sentBytes });
    };
    expect(await failAt(50)).toBeUndefined();
    expect(await failAt(51)).toBeUndefined();
    expect(await failAt(51)).toBe(reason);
  },
);
