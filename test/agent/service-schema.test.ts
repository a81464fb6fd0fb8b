import camelcaseKeys from 'camelcase-keys';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { ESSENTIAL_FIELDS } from '../../sandbox/fuzz/drift-essentials.ts';
import { contentBlockSchema } from '../../src/agent/content-blocks.ts';
import {
  doneSchema,
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

const least = { id: 'm', role: 'assistant', content: [] };

describe('a message', () => {
  test('needs only an id, a role and its content', () => {
    expect(messageSchema.parse(least)).toEqual({
      id: 'm',
      role: 'assistant',
      content: [],
      status: null,
      stopReason: null,
      completedAt: null,
      error: null,
      input: null,
    });
  });

  test('distinguishes missing file ids from an empty list', () => {
    const fileIds = (file_ids: unknown) =>
      messageSchema.parse({ ...least, input: { file_ids } }).input?.fileIds;
    expect([null, [], ['f'], ['f', 1], ['f', 0.5], ['f', null], 'f'].map(fileIds)).toEqual([
      null,
      [],
      ['f'],
      ['f', '1'],
      null,
      null,
      null,
    ]);
  });

  test('ends as its finish reason says where it has no stop reason', () => {
    const reason = (fields: object) => messageSchema.parse({ ...least, ...fields }).stopReason;
    expect(reason({ stop_reason: null, finish_reason: 'length' })).toBe('length');
    expect(reason({ stop_reason: 'stop', finish_reason: 'length' })).toBe('stop');
  });

  test('takes its error from a text or an object, and has none without either', () => {
    const error = (error: unknown) => messageSchema.parse({ ...least, error }).error;
    expect(['Out of memory', { message: 'Out of disk' }, { code: 5 }].map(error)).toEqual([
      'Out of memory',
      'Out of disk',
      '{"code":5}',
    ]);
    expect([undefined, null, '', {}, [], 0, false].map(error)).toEqual(Array(7).fill(null));
  });

  test('may have a plain text as its content or among its blocks', () => {
    const text = { kind: 'text', text: 'Hello' };
    expect(messageSchema.parse({ ...least, content: 'Hello' }).content).toEqual([text]);
    expect(messageSchema.parse({ ...least, content: ['Hello', 1] }).content).toEqual([
      text,
      { kind: 'other', type: '', raw: {} },
    ]);
  });

  test('without content is empty while it is written, and where its error says why', () => {
    const content = (fields: object) =>
      [null, undefined].map(
        (content) => messageSchema.safeParse({ ...least, ...fields, content }).data?.content,
      );
    expect(content({ status: 'streaming' })).toEqual([[], []]);
    expect(content({ status: 'failed' })).toEqual([[], []]);
    expect(content({ status: 'completed', error: 'Out of disk' })).toEqual([[], []]);
    expect(content({ status: 'completed' })).toEqual([undefined, undefined]);
    expect(content({ role: 'user' })).toEqual([undefined, undefined]);
  });

  test('may have its words in capitals, and be canceled', () => {
    const words = { role: 'Assistant', status: 'CANCELED', stop_reason: ' Canceled\n' };
    expect(messageSchema.parse({ ...least, ...words })).toMatchObject({
      role: 'assistant',
      status: 'cancelled',
      stopReason: 'cancelled',
    });
    expect(taskSchema.parse({ id: 't', status: 'Canceled' }).status).toBe('cancelled');
  });

  test('accepts unknown statuses and roles', () => {
    const parsed = messageSchema.parse({ ...least, role: 'critic', status: 'paused', stop_reason: 'tea' });
    expect(parsed).toMatchObject({ role: 'critic', status: 'paused', stopReason: 'tea' });
  });
});

const MISSING = Symbol('missing');
const oddValues = [
  MISSING,
  null,
  '',
  '5',
  5,
  -0.5,
  true,
  {},
  { a: { b: 1 } },
  [],
  [1, null],
  'tea',
  'x'.repeat(10_000),
];
const odd = fc.constantFrom<unknown>(...oddValues);

/** Each response in full, by its name among the essential fields. */
const responses: { name: string; schema: z.ZodType; whole: Record<string, unknown> }[] = [
  {
    name: 'project',
    schema: projectSchema,
    whole: { id: 'p', title: 'T', description: 'D', created_at: 'c', updated_at: 'u' },
  },
  {
    name: 'task',
    schema: taskSchema,
    whole: {
      ...{ id: 't', created_at: '2026-01-01T00:00:00Z', status: 'running', project_id: 'p', title: 'T' },
      ...{ platform: 'api', reviews: [{ status: 'completed', message_id: 'm', error_message: null }] },
    },
  },
  {
    name: 'message',
    schema: messageSchema,
    whole: {
      ...{ ...least, content: [{ type: 'text', text: 'Hello' }], task_id: 't', created_at: 'c' },
      ...{ status: 'completed', stop_reason: 'stop', finish_reason: 'stop', completed_at: 'c', error: null },
      ...{
        started_at: 'c',
        input: { user_message_id: 'u', file_ids: ['f'] },
        platform: 'api',
        output: null,
      },
    },
  },
  {
    name: 'file',
    schema: fileSchema,
    whole: {
      ...{ id: 'f', created_at: 'c', filename: 'n', size_bytes: 1, purpose: 'input' },
      ...{ mime_type: 'text/csv', project_id: 'p', platform: 'api' },
    },
  },
  {
    name: 'result',
    schema: resultFileSchema,
    whole: {
      ...{ result_id: 'r', name: 'n', size_bytes: 1, mime_type: 'text/csv', created_at: 'c' },
      download_url: 'https://s/1',
    },
  },
  {
    name: 'list',
    schema: messageListSchema,
    whole: { type: 'list', data: [least], has_more: true, first_id: 'm', last_id: 'm' },
  },
  {
    name: 'response to a send',
    schema: sendResultSchema,
    whole: {
      type: 'message_result',
      task: { id: 't' },
      user_message: least,
      assistant_message: least,
      raw: {},
    },
  },
  {
    name: 'part links',
    schema: partUrlsSchema,
    whole: { type: 'upload_part_urls', part_urls: { 1: 'https://s/1' } },
  },
  { name: 'cancel', schema: doneSchema, whole: { id: 't', status: 'cancelling' } },
];

describe.each(responses)('the $name', ({ name, schema, whole }) => {
  const essential = ESSENTIAL_FIELDS[name] ?? [];
  const withField = (wire: Record<string, unknown>, [field, value]: [string, unknown]) => {
    const { [field]: _, ...rest } = wire;
    return value === MISSING ? rest : { ...rest, [field]: value };
  };
  const ours = (fields: Record<string, unknown>) => new Map(Object.entries(schema.parse(fields) as object));

  test('loses nothing but a field that cannot be read', () => {
    const fields = Object.keys(whole).filter((field) => !essential.includes(field));
    const changes = fc.dictionary(fc.constantFrom(...fields), odd, { minKeys: 1, maxKeys: 2 });
    fc.assert(
      fc.property(changes, (changed) => {
        const read = ours(whole);
        const left = ours(Object.entries(changed).reduce(withField, whole));
        const names = Object.keys(camelcaseKeys(changed));
        if ('finish_reason' in changed) names.push('stopReason');
        for (const name of names) for (const fields of [read, left]) fields.delete(name);
        expect(left).toEqual(read);
      }),
    );
  });

  test.each(Object.keys(whole))('is refused without its %s, where that is essential', (field) => {
    // A list may be null: it is empty then.
    const none = field === 'data' ? [MISSING] : [MISSING, null];
    const without = [...none, 0.5, true].map((value) => withField(whole, [field, value]));
    const isRefused = without.map((wire) => !schema.safeParse(wire).success);
    expect(isRefused).toEqual(without.map(() => essential.includes(field)));
  });
});

describe('a list', () => {
  test('is empty where it is null', () => {
    for (const schema of [messageListSchema, taskListSchema, resultListSchema])
      expect(schema.parse({ data: null })).toMatchObject({ items: [], leftOut: 0, hasMore: false });
  });

  test('leaves out the items that cannot be read, and counts them', () => {
    const bad = fc.constantFrom<unknown>(
      null,
      5,
      'm',
      {},
      [],
      { ...least, id: 0.5 },
      { ...least, role: null },
    );
    const items = fc.array(fc.oneof(fc.constant(least), bad));
    fc.assert(
      fc.property(items, (data) => {
        const good = data.filter((item) => item === least).length;
        const { items: read, leftOut } = messageListSchema.parse({ data });
        expect([read.map(({ id }) => id), leftOut]).toEqual([Array(good).fill('m'), data.length - good]);
      }),
    );
  });

  test('has more where that is said in another way', () => {
    const hasMore = (has_more: unknown) => messageListSchema.parse({ data: [], has_more }).hasMore;
    expect([true, 'True', 1, '1', false, 'False', 0, null, 'no', { toString: 1 }].map(hasMore)).toEqual([
      ...Array(4).fill(true),
      ...Array(6).fill(false),
    ]);
  });

  test('of tasks takes times without a zone as UTC', () => {
    const time = (created_at: string) => taskSchema.parse({ id: 't', created_at }).createdAt?.getTime();
    const times = ['2026-01-01T12:00:00', '2026-01-01 12:00:00.000', '2026-01-01T12:00:00Z'];
    const offsets = ['2026-01-01T14:00:00+02:00', '2026-01-01T07:00:00-05:00', '2026-01-01T12:00'];
    expect([...times, ...offsets].map(time)).toEqual(Array(6).fill(Date.UTC(2026, 0, 1, 12)));
  });

  test('of tasks takes times in seconds and milliseconds, and those that name their zone in words', () => {
    const time = (created_at: unknown) => taskSchema.parse({ id: 't', created_at }).createdAt;
    const noon = Date.UTC(2026, 0, 1, 12);
    const times = [noon, noon / 1_000, String(noon), `${noon / 1_000}.0`].map(time);
    const words = ['Thu, 01 Jan 2026 12:00:00 GMT', '2026-01-01 12:00:00 UTC'].map(time);
    expect([...times, ...words]).toEqual(Array(6).fill(new Date(noon)));
    const none = [0, '0', '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 1e20, -1, '', 'c', []];
    expect(none.map(time)).toEqual(none.map(() => null));
  });

  test('of reviews keeps those without a status or with an odd one', () => {
    const review = { message_id: 'm', error_message: null };
    const reviews = [review, { ...review, status: 5 }, null, 'm'];
    expect(taskSchema.parse({ id: 't', reviews }).reviews.map(({ status }) => status)).toEqual([
      'unknown',
      'unknown',
    ]);
  });

  test('tells sizes in digits from unknown ones', () => {
    const size = (size_bytes: unknown) => resultFileSchema.parse({ result_id: 'r', size_bytes }).sizeBytes;
    expect([5, '5', 0, '0', '5 MB', 0.5, -1, null, {}].map(size)).toEqual([
      5,
      5,
      0,
      0,
      ...Array(5).fill(null),
    ]);
  });
});

test('an id may be a whole number, which is read as its digits', () => {
  expect(projectSchema.parse({ id: 4711 }).id).toBe('4711');
  expect(resultFileSchema.parse({ result_id: 0 }).id).toBe('0');
  expect(taskSchema.parse({ id: 1, reviews: [{ message_id: 2 }] }).reviews[0]?.messageId).toBe('2');
  const input = { user_message_id: 3, file_ids: [4] };
  expect(messageSchema.parse({ ...least, input }).input).toEqual({ userMessageId: '3', fileIds: ['4'] });
  expect(messageListSchema.parse({ data: [], last_id: 5, first_id: 0.5 })).toMatchObject({
    lastId: '5',
    firstId: null,
  });
  const call = contentBlockSchema.parse({ type: 'tool_use', id: 6 });
  expect([call, contentBlockSchema.parse({ type: 'tool_result', tool_use_id: 6 })]).toMatchObject([
    { id: '6' },
    { toolUseId: '6' },
  ]);
  for (const id of [0.5, 2 ** 53, Number.NaN, 'a\0b', 'a\ud800'])
    expect(projectSchema.safeParse({ id }).success).toBe(false);
});

describe('a content block', () => {
  test.each([
    [
      { type: 'text', text: 'a', more: 1 },
      { kind: 'text', text: 'a' },
    ],
    [
      { type: 'tool_use', id: 'u', name: 'n', input: { q: 1 } },
      { kind: 'tool_use', id: 'u', name: 'n', input: { q: 1 } },
    ],
    [
      { type: 'tool_result', tool_use_id: 'u', content: 'c' },
      { kind: 'tool_result', toolUseId: 'u', content: 'c' },
    ],
  ])('of a documented kind is read: %j', (wire, block) => {
    expect(contentBlockSchema.parse(wire)).toEqual(block);
  });

  test('of any other kind or shape is kept unchanged', () => {
    // zod leaves out a field of this name, which could only do harm.
    const names = fc.string().filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), fc.string(), (fields, kind) => {
        const known = ['text', 'tool_use', 'tool_result'];
        const raw = JSON.parse(JSON.stringify({ ...fields, type: known.includes(kind) ? 'x' : kind }));
        expect(contentBlockSchema.parse(raw)).toEqual({ kind: 'other', type: raw.type, raw });
      }),
    );
    expect(contentBlockSchema.parse({ text: 1 })).toEqual({ kind: 'other', type: '', raw: { text: 1 } });
  });
});

describe('a tool', () => {
  const image = { type: 'image', source: { data: 'aGk=' } };

  test('may give its output as a text, as blocks, or as anything else', () => {
    const text = (text: string) => ({ type: 'text', text });
    const outputs: [unknown, string][] = [
      [[text('one'), text('two')], 'one\ntwo'],
      [['one', image, text('two')], `one\n${JSON.stringify(image)}\ntwo`],
      [text('one'), 'one'],
      [{ rows: 5 }, '{"rows":5}'],
      [5, '5'],
      [[], ''],
      [null, ''],
      [undefined, ''],
    ];
    for (const [content, output] of outputs) {
      const block = contentBlockSchema.parse({ type: 'tool_result', tool_use_id: 'u', content });
      expect(block).toEqual({ kind: 'tool_result', toolUseId: 'u', content: output });
    }
  });

  test('may say whether it failed', () => {
    const parsed = (is_error: unknown) => contentBlockSchema.parse({ type: 'tool_result', is_error });
    expect(parsed(true)).toMatchObject({ kind: 'tool_result', isError: true });
    expect(parsed(false)).toMatchObject({ kind: 'tool_result', isError: false });
    expect(parsed('no')).not.toHaveProperty('isError');
  });

  test('stays one whatever its block holds, and of whatever kind it is', () => {
    const fields = fc.dictionary(
      fc.constantFrom('id', 'tool_use_id', 'name', 'input', 'content', 'text'),
      odd,
    );
    const kinds = fc.constantFrom('tool_use', 'mcp_tool_use', 'tool_result', 'web_search_tool_result');
    fc.assert(
      fc.property(fields, kinds, (block, type) => {
        const expected = type.endsWith('tool_use') ? 'tool_use' : 'tool_result';
        expect(contentBlockSchema.parse({ ...block, type }).kind).toBe(expected);
      }),
    );
  });
});

describe('the response to a send', () => {
  test('omits a part of an unknown shape instead of failing', () => {
    const parsed = sendResultSchema.parse({
      type: 'message_result',
      task: { title: 't' },
      user_message: { ...least, role: 'user' },
      assistant_message: { partial: true },
      raw: [1],
    });
    expect(parsed.task).toBeNull();
    expect(parsed.userMessage?.role).toBe('user');
    expect(parsed.assistantMessage).toBeNull();
  });

  test('has null for missing parts', () => {
    expect(sendResultSchema.parse({})).toEqual({ task: null, userMessage: null, assistantMessage: null });
  });
});

describe('a response with enormous fields', () => {
  const long = 'x'.repeat(100_000);

  test('keeps no more of a message than is used', () => {
    const much = { created_at: long, role: long, status: long, stop_reason: long, completed_at: long };
    const input = { user_message_id: long, file_ids: ['f', long] };
    const content = [{ type: 'tool_use', id: 'u', name: long, input: {} }];
    const parsed = messageSchema.parse({ ...least, ...much, error: long, input, content });
    expect(JSON.stringify(parsed).length).toBeLessThan(5_000);
    expect(parsed).toMatchObject({ role: 'unknown', status: 'unknown', stopReason: null, completedAt: null });
    expect(parsed).toMatchObject({ input: { userMessageId: null, fileIds: null } });
  });

  test('lists the others where an id is too long, and cuts names and leaves out links', () => {
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

  test('keeps a task and its project readable', () => {
    const review = { status: long, message_id: long, error_message: long };
    const task = { id: 't', created_at: long, status: long, project_id: 'p', title: long };
    const parsed = taskSchema.parse({ ...task, reviews: [review] });
    expect(parsed).toMatchObject({ status: 'unknown', createdAt: null, reviews: [{ messageId: null }] });
    expect(JSON.stringify(parsed).length).toBeLessThan(6_000);
    const project = projectSchema.parse({ id: 'p', title: long, description: long });
    expect(JSON.stringify(project).length).toBeLessThan(6_000);
    expect(partUrlsSchema.parse({ part_urls: { 1: long, 2: 'https://s/2' } })).toEqual(
      new Map([[2, 'https://s/2']]),
    );
  });
});

describe('the other resources', () => {
  test('accept missing optional fields', () => {
    expect(taskSchema.parse({ id: 't', status: 'new-kind' })).toEqual({
      ...{ id: 't', status: 'new-kind', createdAt: null, title: '', reviews: [] },
    });
    const unknown = { sizeBytes: null, mimeType: 'application/octet-stream' };
    expect(fileSchema.parse({ id: 'f' })).toEqual({ id: 'f', filename: '', ...unknown });
    const result = { id: 'r', name: '', createdAt: null, downloadUrl: null, ...unknown };
    expect(resultFileSchema.parse({ result_id: 'r' })).toEqual(result);
  });

  test('need only the data of a list', () => {
    const page = { items: [], leftOut: 0, hasMore: false, firstId: null, lastId: null };
    expect(taskListSchema.parse({ data: [] })).toEqual(page);
    expect(taskListSchema.safeParse({}).success).toBe(false);
  });

  test('never accept a response that is not an object', () => {
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
