import { describe, expect, it } from 'vitest';
import { assumptions, assumptionsTable } from '../../src/agent/assumptions.ts';
import { defaultDialect, dialectSchema, dialectSetting } from '../../src/agent/dialect.ts';
import { startedUpload } from '../../src/agent/started-upload.ts';

describe('the dialect', () => {
  it('is all defaults where nothing is set', () => {
    expect(dialectSetting.parse(undefined)).toEqual(defaultDialect);
    expect(dialectSetting.parse(' ')).toEqual(defaultDialect);
  });

  it('takes single settings from JSON', () => {
    const dialect = dialectSetting.parse('{"cursorParam":"cursor","badKeyStatuses":[401]}');
    expect(dialect).toEqual({ ...defaultDialect, cursorParam: 'cursor', badKeyStatuses: [401] });
  });

  it.each(['{"cursorParm":"x"}', '{', '[]', '{"cursorParam":""}', '{"sendMessagePath":"messages"}'])(
    'refuses %s',
    (text) => {
      expect(dialectSetting.safeParse(text).success).toBe(false);
    },
  );

  it('has every setting in the table of assumptions, once', () => {
    const named = assumptions.flatMap(({ settings }) => settings);
    expect(named.toSorted()).toEqual(Object.keys(dialectSchema.shape).toSorted());
  });

  it('is printed with its defaults', () => {
    const table = assumptionsTable();
    expect(table.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(assumptions.length + 2);
    expect(table).toContain('| medium-high | `listTasksProjectParam`: `"project_id"` |');
  });
});

describe('the answer to the start of an upload', () => {
  const schema = startedUpload(defaultDialect);

  it.each([{ id: 'f' }, { file_id: 'f' }, { file: { id: 'f' } }])('names the file by %j', (id) => {
    expect(schema.parse({ ...id, url: 'https://s/1' })).toMatchObject({ fileId: 'f', uploadId: null });
  });

  it.each(['upload_url', 'url', 'presigned_url'])('names the place by %s', (name) => {
    expect(schema.parse({ id: 'f', upload_type: 'single', [name]: 'https://s/1' }).url).toBe('https://s/1');
  });

  it('honours a part size and headers, and passes over nonsense', () => {
    const started = { id: 'f', upload_type: 'multipart', upload_id: 'u' };
    const headers = { 'X-Needed': 'yes' };
    expect(schema.parse({ ...started, part_size: 7, headers })).toEqual({
      fileId: 'f',
      uploadId: 'u',
      url: null,
      partBytes: 7,
      headers: { 'x-needed': 'yes' },
    });
    expect(schema.parse({ ...started, part_size: 'big', headers: [1] })).toMatchObject({
      partBytes: null,
      headers: {},
    });
  });

  it.each([
    [{ url: 'https://s/1' }, 'a file id'],
    [{ id: 'f' }, 'an upload URL'],
    [{ id: 'f', upload_type: 'multipart' }, 'an upload_id'],
  ])('in a shape like %j says what is missing', (answer, missing) => {
    expect(() => schema.parse(answer)).toThrow(`${missing} is missing`);
  });
});
