import { expect, test } from 'vitest';
import { isStopWord } from '../../../src/relay/inbox/stop-word.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';

const isStop = (text: string, more: Record<string, unknown> = {}) =>
  isStopWord(parseMessage({ text, ...more }), 'UBOT');

test.each([
  'stop',
  'Stop',
  'STOP!!!',
  ' stop . ',
  'stop…',
  '<@UBOT> stop',
  '<@UBOT>, stop!',
  'stop <@UBOT>',
  '*stop*',
  '~stop~',
])('“%s” is the word stop', (text) => {
  expect(isStop(text)).toBe(true);
});

test.each([
  '',
  'stop it',
  'please stop',
  'stopp',
  'non-stop',
  '<@UBOT>',
  'stop <@U2>',
  '<@U2> stop',
  '`stop`',
  '```stop```',
  '> stop',
  'stop\n\nstop',
  'stop <https://example.com|here>',
])('“%s” is not the word stop', (text) => {
  expect(isStop(text)).toBe(false);
});

test('a message with files is not the word stop, and the rich text decides', () => {
  expect(isStop('stop', { files: [{ name: 'a.csv' }] })).toBe(false);
  const section = { type: 'rich_text_section', elements: [{ type: 'text', text: 'stop.' }] };
  expect(isStop('something else', { blocks: [{ type: 'rich_text', elements: [section] }] })).toBe(true);
});
