import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contentBlockSchema,
  fileSchema,
  messageListSchema,
  messageSchema,
  partUrlsSchema,
  projectSchema,
  resultFileSchema,
  resultListSchema,
  sendResultSchema,
  taskListSchema,
  taskSchema,
} from '../../src/agent/service-schema.ts';

const least = { id: 'm', task_id: 't', created_at: '2026-01-01T00:00:00Z', role: 'assistant', content: [] };

describe('a message', () => {
  it('needs only what the document requires', () => {
    expect(messageSchema.parse(least)).toEqual({
      id: 'm',
      taskId: 't',
      createdAt: '2026-01-01T00:00:00Z',
      role: 'assistant',
      content: [],
      status: null,
      stopReason: null,
      completedAt: null,
      error: null,
      input: null,
    });
  });

  it.each(['id', 'task_id', 'created_at', 'role', 'content'])('is refused without %s', (field) => {
    const { [field]: _, ...rest } = { ...least } as Record<string, unknown>;
    expect(messageSchema.safeParse(rest).success).toBe(false);
  });

  it('distinguishes missing file ids from an empty list', () => {
    const input = (file_ids: unknown) => messageSchema.parse({ ...least, input: { file_ids } }).input;
    expect(input(null)).toEqual({ userMessageId: null, fileIds: null });
    expect(input([])).toEqual({ userMessageId: null, fileIds: [] });
    expect(input(['f'])).toEqual({ userMessageId: null, fileIds: ['f'] });
  });

  it('accepts unknown statuses and roles', () => {
    const parsed = messageSchema.parse({ ...least, role: 'critic', status: 'paused', stop_reason: 'tea' });
    expect(parsed).toMatchObject({ role: 'critic', status: 'paused', stopReason: 'tea' });
  });
});

describe('a list', () => {
  it('is read up to the first invalid item', () => {
    const bad = messageListSchema.safeParse({
      data: [least, ...Array(50_000).fill({ content: [0] })],
    });
    expect(bad.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
      'data.1.id: invalid_type',
      'data.1.task_id: invalid_type',
      'data.1.created_at: invalid_type',
    ]);
  });

  it('of blocks is read up to the first invalid block', () => {
    const bad = messageSchema.safeParse({
      ...least,
      content: [{ type: 'text', text: 'a' }, ...Array(50_000).fill(0)],
    });
    expect(bad.error?.issues.map(({ path }) => path.join('.'))).toEqual(['content.1']);
  });
});

describe('a content block', () => {
  it.each([
    [
      { type: 'text', text: 'a', more: 1 },
      { type: 'text', text: 'a' },
    ],
    [
      { type: 'tool_use', id: 'u', name: 'n', input: { q: 1 } },
      { type: 'tool_use', id: 'u', name: 'n', input: { q: 1 } },
    ],
    [
      { type: 'tool_result', tool_use_id: 'u', content: 'c' },
      { type: 'tool_result', toolUseId: 'u', content: 'c' },
    ],
  ])('of a documented kind is read: %j', (wire, block) => {
    expect(contentBlockSchema.parse(wire)).toEqual(block);
  });

  it('of any other kind or shape is kept unchanged', () => {
    // zod leaves out a field of this name, which could only do harm.
    const names = fc.string().filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), fc.string(), (fields, kind) => {
        const known = ['text', 'tool_use', 'tool_result'];
        const raw = JSON.parse(JSON.stringify({ ...fields, type: known.includes(kind) ? 'x' : kind }));
        expect(contentBlockSchema.parse(raw)).toEqual({ type: 'other', kind: raw.type, raw });
      }),
    );
    const odd = { type: 'tool_result', tool_use_id: 'u', content: [{ type: 'text', text: 'deep' }] };
    expect(contentBlockSchema.parse(odd)).toEqual({ type: 'other', kind: 'tool_result', raw: odd });
    expect(contentBlockSchema.parse({ text: 1 })).toMatchObject({ type: 'other', kind: '' });
  });
});

describe('the response to a send', () => {
  it('omits a part of an unknown shape instead of failing', () => {
    const parsed = sendResultSchema.parse({
      type: 'message_result',
      task: { id: 't' },
      user_message: { ...least, role: 'user' },
      assistant_message: { partial: true },
      raw: [1],
    });
    expect(parsed.task).toBeNull();
    expect(parsed.userMessage?.role).toBe('user');
    expect(parsed.assistantMessage).toBeNull();
  });

  it('has null for missing parts', () => {
    expect(sendResultSchema.parse({})).toEqual({ task: null, userMessage: null, assistantMessage: null });
  });
});

describe('a response with enormous fields', () => {
  const long = 'x'.repeat(100_000);

  it('keeps no more of a message than is used', () => {
    const much = { created_at: long, role: long, status: long, stop_reason: long, completed_at: long };
    const input = { user_message_id: long, file_ids: ['f', long] };
    const content = [
      { type: 'tool_use', id: 'u', name: long, input: {} },
      { type: 'tool_use', id: long, name: 'n', input: {} },
      { type: 'tool_result', tool_use_id: long, content: '' },
      { type: 'text', text: 'a' },
    ];
    const parsed = messageSchema.parse({ ...least, ...much, error: long, input, content });
    expect(JSON.stringify(parsed).length).toBeLessThan(5_000);
    expect(parsed).toMatchObject({ role: 'unknown', status: 'unknown', stopReason: null, completedAt: null });
    expect(parsed).toMatchObject({ createdAt: '', input: { userMessageId: null, fileIds: ['f'] } });
    expect(parsed.content.map(({ type }) => type)).toEqual(['tool_use', 'text']);
  });

  it('lists the others where an id is too long, and cuts names and leaves out links', () => {
    const result = { result_id: 'r', name: 'n', size_bytes: 0, created_at: 'c', download_url: 'https://s/1' };
    const data = [{ ...result, result_id: long }, { ...result, name: long, download_url: long }, result];
    const { items } = resultListSchema.parse({ data, first_id: long, last_id: long });
    expect(items.map(({ id, name, downloadUrl }) => [id, name.length, downloadUrl])).toEqual([
      ['r', 1_000, null],
      ['r', 1, 'https://s/1'],
    ]);
    const page = messageListSchema.parse({ data: [{ ...least, id: long }, least], last_id: long });
    expect([page.items.map(({ id }) => id), page.lastId]).toEqual([['m'], null]);
  });

  it('keeps a task and its project readable', () => {
    const review = { status: long, message_id: long, error_message: long };
    const task = { id: 't', created_at: long, status: long, project_id: 'p', title: long };
    const parsed = taskSchema.parse({ ...task, reviews: [review] });
    expect(parsed).toMatchObject({ status: 'unknown', createdAt: '', reviews: [{ messageId: null }] });
    expect(JSON.stringify(parsed).length).toBeLessThan(6_000);
    const project = projectSchema.parse({ id: 'p', title: long, description: long });
    expect(JSON.stringify(project).length).toBeLessThan(6_000);
    expect(partUrlsSchema.parse({ part_urls: { 1: long, 2: 'https://s/2' } })).toEqual(
      new Map([[2, 'https://s/2']]),
    );
  });
});

describe('the other resources', () => {
  it('accept missing optional fields', () => {
    const task = taskSchema.parse({ id: 't', created_at: 'c', status: 'new-kind', project_id: 'p' });
    expect(task).toMatchObject({ status: 'new-kind', title: '', reviews: [] });
    const file = fileSchema.parse({
      id: 'f',
      created_at: 'c',
      filename: 'n',
      size_bytes: 1,
      project_id: 'p',
    });
    expect(file).toMatchObject({ mimeType: 'application/octet-stream', purpose: null });
    const result = resultFileSchema.parse({ result_id: 'r', name: 'n', size_bytes: 0, created_at: 'c' });
    expect(result).toMatchObject({ id: 'r', downloadUrl: null });
  });

  it('need only the data of a list', () => {
    const page = { items: [], hasMore: false, firstId: null, lastId: null };
    expect(taskListSchema.parse({ data: [] })).toEqual(page);
    expect(taskListSchema.safeParse({}).success).toBe(false);
  });

  it('never accept a response that is not an object', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.jsonValue())),
        (answer) => {
          for (const schema of [taskSchema, messageSchema, sendResultSchema, fileSchema]) {
            expect(schema.safeParse(answer).success).toBe(false);
          }
        },
      ),
    );
  });
});
