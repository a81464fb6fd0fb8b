import { describe, expect, test } from 'vitest';
import { startedUploadSchema } from '../../src/agent/request-bodies.ts';
import {
  agentDialectSetting,
  DEFAULT_SERVICE_OPTIONS,
  serviceOptionsSchema,
} from '../../src/agent/service-options.ts';
import { ASSUMPTIONS, assumptionsTable } from '../repository/service-assumptions.ts';

describe('AGENT_DIALECT', () => {
  test('has only defaults if nothing is set', () => {
    expect(agentDialectSetting.parse(undefined)).toEqual(DEFAULT_SERVICE_OPTIONS);
    expect(agentDialectSetting.parse(' ')).toEqual(DEFAULT_SERVICE_OPTIONS);
  });

  test('reads single settings from JSON', () => {
    const dialect = agentDialectSetting.parse('{"cursorParam":"cursor","badKeyStatuses":[401]}');
    expect(dialect).toEqual({ ...DEFAULT_SERVICE_OPTIONS, cursorParam: 'cursor', badKeyStatuses: [401] });
  });

  test.each(['{"cursorParm":"x"}', '{', '[]', '{"cursorParam":""}', '{"sendMessagePath":"messages"}'])(
    'refuses %s',
    (text) => {
      expect(agentDialectSetting.safeParse(text).success).toBe(false);
    },
  );

  test('has every setting in the table of assumptions, once', () => {
    const named = ASSUMPTIONS.flatMap(({ settings }) => settings);
    expect(named.toSorted()).toEqual(Object.keys(serviceOptionsSchema.shape).toSorted());
  });

  test('is printed as a table with its defaults', () => {
    const table = assumptionsTable();
    expect(table.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(ASSUMPTIONS.length + 2);
    expect(table).toContain('| medium-high | `listTasksProjectParam`: `"project_id"` |');
  });
});

describe('the response to the start of an upload', () => {
  const schema = startedUploadSchema(DEFAULT_SERVICE_OPTIONS);

  test.each([{ id: 'f' }, { file_id: 'f' }, { file: { id: 'f' } }])('names the file by %j', (id) => {
    expect(schema.parse({ ...id, url: 'https://s/1' })).toMatchObject({ fileId: 'f', uploadId: null });
  });

  test.each(['upload_url', 'url', 'presigned_url'])('names the upload link by %s', (name) => {
    expect(schema.parse({ id: 'f', upload_type: 'single', [name]: 'https://s/1' }).url).toBe('https://s/1');
  });

  test('contains a part size and headers, if they are valid', () => {
    const started = { id: 'f', upload_type: 'multipart', upload_id: 'u' };
    const headers = { 'X-Needed': 'yes' };
    const mebibyte = 1024 * 1024;
    expect(schema.parse({ ...started, part_size: 7 * mebibyte, headers })).toEqual({
      fileId: 'f',
      uploadId: 'u',
      url: null,
      partBytes: 7 * mebibyte,
      headers: { 'x-needed': 'yes' },
    });
    expect(schema.parse({ ...started, part_size: 'big', headers: [1] })).toMatchObject({
      partBytes: null,
      headers: {},
    });
  });

  test('is in parts, or in one piece, by what else it has where its type is odd', () => {
    for (const upload_type of [null, 5, 'new', undefined]) {
      expect(schema.parse({ id: 'f', upload_type, upload_id: 'u' })).toMatchObject({
        uploadId: 'u',
        url: null,
      });
      const one = { id: 'f', upload_type, upload_id: 5, upload_url: 'https://s/1' };
      expect(schema.parse(one)).toMatchObject({ uploadId: null, url: 'https://s/1' });
    }
  });

  test('may have whole numbers for its ids', () => {
    expect(schema.parse({ id: 4711, upload_id: 12 })).toMatchObject({ fileId: '4711', uploadId: '12' });
  });

  test('may write numbers as texts, and values of headers as numbers or lists', () => {
    const headers = { Host: ['s3.example'], 'x-size': 5 };
    expect(schema.parse({ id: 'f', upload_id: 'u', part_size: '7340032', headers })).toMatchObject({
      partBytes: 7_340_032,
      headers: { host: 's3.example', 'x-size': '5' },
    });
  });

  test('has no parts below what storages accept, and no headers above 8 KiB', () => {
    const started = { id: 'f', upload_type: 'multipart', upload_id: 'u', part_size: 7 };
    expect(schema.parse(started).partBytes).toBe(5 * 1024 * 1024);
    const headers = (length: number) => ({ ...started, headers: { 'x-much': 'y'.repeat(length) } });
    expect(schema.safeParse(headers(8_000)).success).toBe(true);
    expect(schema.safeParse(headers(9_000)).success).toBe(false);
  });

  test.each([
    [{ url: 'https://s/1' }, 'a file id'],
    [{ id: 'f' }, 'an upload URL'],
    [{ id: 'f', upload_type: 'multipart' }, 'an upload_id'],
  ])('in a shape like %j says what is missing', (answer, missing) => {
    expect(() => schema.parse(answer)).toThrow(`${missing} is missing`);
  });
});
