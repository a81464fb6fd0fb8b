import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { toReplyBlock } from '../../../src/relay/replies/reply-blocks.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

function call(id: string, query: string): ContentBlock {
  return { kind: 'tool_use', id, name: 'search_web', input: { query } };
}

function result(toolUseId: string, content = 'ok'): ContentBlock {
  return { kind: 'tool_result', toolUseId, content };
}

/** The states of two steps with this output, as a turn keeps it. */
function statesOf(content: string, isError?: boolean) {
  const outcome = { kind: 'tool_result' as const, content, ...(isError !== undefined && { isError }) };
  const blocks = ['1', '2'].flatMap((id) => [call(id, 'BRCA1'), toReplyBlock({ ...outcome, toolUseId: id })]);
  return shown(blocks).plan?.tasks.map(({ status }) => status);
}

/** So many finished calls. */
function finishedCalls(count: number, output?: string): ContentBlock[] {
  return Array.from({ length: count }, (_, at) => [
    call(`${at}`, `entry ${at}`),
    result(`${at}`, output),
  ]).flat();
}

function shown(blocks: ContentBlock[], more: Partial<DisplayedReply> = {}) {
  const [first, ...others] = renderReply({
    ...{ turnId, phase: 'working', blocks, elapsedMs: 65_000, notes: [], maxMessages: 12 },
    newBlocks: ['plan'],
    ...more,
  });
  const plan = first?.blocks.find(({ type }) => type === 'plan');
  return { first, others, plan: plan?.type === 'plan' ? plan : undefined };
}

describe('the plan of a run', () => {
  test('stands above the growing text, and replaces the progress line, which stays in the text', () => {
    const blocks = [...finishedCalls(1), call('9', 'BRCA1'), { kind: 'text' as const, text: 'So far: 12.' }];
    const { first, plan } = shown(blocks);
    expect(first?.blocks.map(({ type }) => type)).toEqual(['plan', 'markdown', 'actions']);
    expect(plan).toMatchObject({
      title: 'The agent is working on it… · 1 min · 1 step done',
      tasks: [
        { task_id: 'step-1', title: 'Searched web: entry 0', status: 'complete' },
        { task_id: 'step-2', title: 'Search web: BRCA1', status: 'in_progress' },
      ],
    });
    expect(first?.text).toBe('So far: 12.\nThe agent is working on it… · 1 min · 1 step done');
    expect(shown([call('1', 'a'), call('2', 'b & c')]).first?.text).toContain(
      'Search web: b &amp; c · 1 min',
    );
  });

  test.each([
    ['one step', finishedCalls(1), {}],
    ['hidden steps', finishedCalls(3), { hideSteps: true }],
    ['an ended run', finishedCalls(3), { phase: 'done' }],
    ['the setting off', finishedCalls(3), { newBlocks: [] }],
  ] as const)('is not shown with %s', (_name, blocks, more) => {
    expect(shown([...blocks], more).plan).toBeUndefined();
  });

  test('keeps its ids from edit to edit, and only these', () => {
    const early = shown(finishedCalls(2));
    const late = shown(finishedCalls(5));
    expect([early.plan?.block_id, late.plan?.block_id]).toEqual(['plan', 'plan']);
    const ids = (one: typeof early) => one.plan?.tasks.map(({ task_id }) => task_id) ?? [];
    expect(ids(late).slice(0, 2)).toEqual(ids(early));
    expect(late.first?.blocks.filter((block) => 'block_id' in block)).toHaveLength(1);
  });

  test('has at most eight rows; older steps share one with their count', () => {
    const many = [call('x', 'lost'), result('x', 'Error: no such gene'), ...finishedCalls(19)];
    const rows = shown(many).plan?.tasks ?? [];
    expect(rows).toHaveLength(8);
    expect(rows[0]).toMatchObject({
      task_id: 'earlier',
      title: '13 earlier steps, 1 failed',
      status: 'error',
    });
    expect(shown(finishedCalls(20)).plan?.tasks[0]).toMatchObject({ task_id: 'earlier', status: 'complete' });
    expect(rows.at(-1)).toMatchObject({ task_id: 'step-20', title: 'Searched web: entry 18' });
  });

  test.each([
    'Error: no such table',
    'ValueError: not a number',
    'java.lang.NullPointerException: at A',
    'Traceback (most recent call last):\n  File "a.py"',
    'Error in read.csv("a.csv") : cannot open the connection',
    ' \n\n❌ **Error:** quota',
    '[ERROR] disk full',
    'Error: 404 Not Found',
    'error',
    'Failed to connect',
    'Request failed with status code 500',
    'HTTP 503 Service Unavailable',
    'HTTP/1.1 429 Too Many Requests',
    '404 Not Found',
    'Request timed out',
    'Timed out after 30 s',
    'Could not connect to the database',
    'Unable to open a.csv',
    'Cannot read the file',
    '{"error": "quota"}',
    '{\n  "error": {"code": 3, "message": "No such gene"}\n}',
    '{"data": null, "errors": [{"message": "quota"}]}',
    '{"status": "error", "rows": []}',
    '{"status": "failed"}',
    '{"success": false, "message": "quota"}',
    '{"ok": false}',
    '{"isError": true, "content": []}',
    '{"is_error": true}',
  ])('marks a step that failed: %s', (output) => {
    expect(statesOf(output)).toEqual(['error', 'error']);
  });

  test.each([
    'The mean error is 0.2; no failures',
    'Error rate: 0.2',
    'Error: 0.02 mm',
    'Error: none',
    'MeanError: 0.3',
    'error,value\n0.1,3',
    'error\n0.1\n0.2',
    '| error | n |\n|---|---|\n| timeout | 3 |',
    'error | n\nquota | 3',
    '# Error analysis',
    '0 errors',
    'No errors found',
    'No jobs timed out',
    'Failed: 0, passed: 12',
    'Failed samples: A, B',
    'Failed to reject the null hypothesis (p = 0.3)',
    'Could not reject the null hypothesis',
    'Fatal cases: 3',
    '404 genes',
    '503 variants were not found',
    'HTTP 200 OK',
    '{"error": null, "rows": [1]}',
    '{\n  "error": false\n}',
    '{"error": "", "errors": []}',
    '{"error": "none"}',
    '{"error": 0.03, "errors": 2}',
    '{"error": {"mean": 0.1, "sd": 0.02}}',
    '{"status": "completed", "success": true, "ok": true}',
    '{"rows": [{"error": "quota", "status": "failed"}]}',
    '[{"error": "quota"}]',
    '{"error',
    '',
  ])('takes no result for a failure: %s', (output) => {
    expect(statesOf(output)).toEqual(['complete', 'complete']);
  });

  test.each([
    ['{"error": "A long trace: ', 'error'],
    ['{"success": false, "rows": "', 'error'],
    ['{"error": null, "rows": "', 'complete'],
    ['{"error": "none", "rows": "', 'complete'],
    ['{"rows": "', 'complete'],
  ])('judges an output that was cut off by its first field: %s', (start, state) => {
    expect(statesOf(`${start}${'x'.repeat(3_000)}"}`)).toEqual([state, state]);
  });

  test('believes a service that says whether a step failed', () => {
    expect(statesOf('No rows', true)).toEqual(['error', 'error']);
    expect(statesOf('Error: this line is in the log', false)).toEqual(['complete', 'complete']);
  });

  test("links what a tool's output names, with the address as its label", () => {
    const output =
      'See [paper](https://www.ncbi.nlm.nih.gov/pmc/1/) and "https://clinvar.org/v?id=2", https://cut.org/of';
    const cut = output.padStart(2_400, 'x ');
    const rows = shown([...finishedCalls(1), call('s', 'ClinVar'), result('s', cut)]).plan?.tasks ?? [];
    expect(rows[1]?.sources).toEqual([
      { type: 'url', url: 'https://www.ncbi.nlm.nih.gov/pmc/1/', text: 'ncbi.nlm.nih.gov/pmc/1' },
      { type: 'url', url: 'https://clinvar.org/v?id=2', text: 'clinvar.org/v?id=2' },
    ]);
    expect(rows[0]?.sources).toBeUndefined();
    const long = `${'login.google.com.'.repeat(3)}evil.org`;
    const tricks = `https://google.com@evil.org/ https://${long}/a https://one.example/b`;
    const seen = shown([...finishedCalls(1), call('s', 'a'), result('s', tricks)]).plan?.tasks[1];
    expect(seen?.sources?.map(({ text }) => text)).toEqual([`…${long.slice(-39)}`]);
    const whole = shown([...finishedCalls(1), call('s', 'a'), result('s', 'https://a.org/1')]).plan?.tasks;
    expect(whole?.[1]?.sources).toHaveLength(1);
  });

  test('takes at most 1,500 characters, and mentions nobody', () => {
    const long = `https://a.org/${'x'.repeat(90)} https://b.org/${'y'.repeat(90)} `;
    const blocks = Array.from({ length: 30 }, (_, at) => [
      call(`${at}`, `<!channel> ${'w'.repeat(300)}`),
      result(`${at}`, long),
    ]).flat();
    const { plan } = shown(blocks);
    const texts = plan?.tasks.flatMap(({ title, sources = [] }) => [
      title,
      ...sources.map(({ text }) => text),
    ]);
    expect([plan?.title ?? '', ...(texts ?? [])].join('').length).toBeLessThanOrEqual(1_500);
    expect(plan?.tasks.at(-1)?.sources).toHaveLength(2);
    expect(JSON.stringify(plan)).not.toContain('<!channel>');
  });

  test('gives way to the progress line where one message has no room for both', () => {
    const text = 'A sentence of the answer. '.repeat(361);
    const calls = Array.from({ length: 20 }, (_, at) => [
      call(`${at}`, 'w'.repeat(80)),
      result(`${at}`),
    ]).flat();
    const { first, plan, others } = shown([...calls, { kind: 'text', text }]);
    expect(plan).toBeUndefined();
    expect(others).toEqual([]);
    expect(JSON.stringify(first?.blocks)).toContain('20 steps done');
    const two = shown([...finishedCalls(2), { kind: 'text', text: text.repeat(2) }]);
    expect(two.plan).toBeUndefined();
    expect(JSON.stringify(two.others)).toContain('2 steps done');
  });

  test('has the form without it at hand', () => {
    const { first } = shown(finishedCalls(2));
    expect(first?.simpler?.without).toBe('plan');
    expect(first?.simpler?.message).toEqual(shown(finishedCalls(2), { newBlocks: [] }).first);
  });
});
