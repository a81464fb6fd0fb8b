import { expect, test } from 'vitest';
import {
  decideOnFile,
  externalLink,
  isHtmlFile,
  slackFileSchema,
} from '../../src/slack/downloadable-files.ts';

const hosted = {
  id: 'F1',
  name: 'data.csv',
  mimetype: 'text/csv',
  filetype: 'csv',
  mode: 'hosted',
  size: 1_000,
  is_external: false,
  url_private: 'https://files.slack.com/files-pri/T1-F1/data.csv',
  url_private_download: 'https://files.slack.com/files-pri/T1-F1/download/data.csv',
};
const judge = (change: Record<string, unknown>) =>
  decideOnFile(slackFileSchema.parse({ ...hosted, ...change }), { maxBytes: 10_000 });

const noAddress = { url_private: undefined, url_private_download: undefined };

test('a hosted file is downloaded from its download address', () => {
  expect(judge({})).toEqual({
    do: 'download',
    url: hosted.url_private_download,
    sizeBytes: 1_000,
    mime: 'text/csv',
  });
});

test('a snippet is a file too, and url_private is used if it is the only address', () => {
  expect(judge({ mode: 'snippet', url_private_download: undefined })).toMatchObject({
    url: hosted.url_private,
  });
});

test.each([
  ['a stub of Slack Connect', { mode: 'file_access', file_access: 'check_file_info' }],
  ['a stub without a mode', { mode: undefined, file_access: 'check_file_info', url_private: undefined }],
])('%s is asked for', (_what, change) => {
  expect(judge(change)).toEqual({ do: 'ask' });
});

test.each([
  ['deleted', { mode: 'tombstone' }],
  ['deleted', { file_access: 'file_not_found' }],
  ['hidden_by_plan', { mode: 'hidden_by_limit' }],
  ['access_denied', { file_access: 'access_denied' }],
  ['external', { mode: 'external', is_external: true }],
  ['external', { is_external: true, external_type: 'gdoc' }],
  ['not_a_file', { mode: 'external', is_external: true, ...noAddress }],
  ['canvas', { filetype: 'quip', ...noAddress }],
  ['list', { filetype: 'list', ...noAddress }],
  ['post', { mode: 'space', ...noAddress }],
  ['not_a_file', { mode: 'something_new', ...noAddress }],
  ['processing', noAddress],
  ['too_large', { size: 10_001 }],
])('%s: %j is refused', (reason, change) => {
  expect(judge(change)).toEqual({ do: 'refuse', reason });
});

test.each([
  { filetype: 'quip' },
  { mode: 'canvas' },
  { mode: 'list' },
  { mode: 'post' },
  { mode: 'email' },
  { mode: 'something_new' },
  { size: 0 },
])('%j is tried, whatever size Slack announces', (change) => {
  expect(judge(change)).toMatchObject({ do: 'download', sizeBytes: undefined });
});

test('a file of exactly the limit is accepted', () => {
  expect(judge({ size: 10_000 })).toMatchObject({ do: 'download' });
});

test('only HTML files count as HTML', () => {
  expect(isHtmlFile(slackFileSchema.parse({ id: 'F1', mimetype: 'text/html; charset=utf-8' }))).toBe(true);
  expect(isHtmlFile(slackFileSchema.parse({ id: 'F1', filetype: 'html' }))).toBe(true);
  expect(isHtmlFile(slackFileSchema.parse(hosted))).toBe(false);
});

test('an external file has a link if a browser can open it', () => {
  const link = (change: Record<string, unknown>) =>
    externalLink(slackFileSchema.parse({ id: 'F1', ...change }));
  expect(link({ external_url: 'https://drive.example/1', url_private: 'https://b.example' })).toBe(
    'https://drive.example/1',
  );
  expect(link({ url_private: 'https://b.example/2' })).toBe('https://b.example/2');
  expect(link({ url_private: 'javascript:alert(1)' })).toBeUndefined();
  expect(link({})).toBeUndefined();
});
