import { expect, test } from 'vitest';
import { stopIn } from '../../../src/relay/inbox/stop-word.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';

const stop = (text: string, more: Record<string, unknown> = {}, further: string[] = []) =>
  stopIn(parseMessage({ text, ...more }), 'UBOT', further);

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
  'stop 🙏',
  'Stop! ✋🏽',
  '🛑 stop',
  'stop 🤷\u200d♀️',
])('“%s” is the word stop', (text) => {
  expect(stop(text)).toBe('word');
});

test.each([
  'please stop',
  'stop please',
  'Please, stop!',
  'stop it',
  'Stop it now, please.',
  'stop now',
  'cancel',
  'Cancel that',
  '<@UBOT> please stop it',
  'never mind, stop',
  'Nevermind. Stop.',
  'ok stop',
  'no, stop',
  'wait, stop!',
  'stop stop stop',
  'stop, thanks',
  'abort the run',
  'could you stop please?',
  '*please* stop',
  'stop\nplease',
  'stop\n\nstop',
  '🙏 please stop ❤️',
  '🛑',
])('“%s” is a phrase that asks to stop', (text) => {
  expect(stop(text)).toBe('phrase');
});

test.each([
  '',
  '$stop',
  '=stop',
  '🛑 = stop',
  'stop + cancel',
  'no + stop',
  'stopp',
  'non-stop',
  "don't stop",
  'please',
  'never mind',
  '🙏',
  '!!!',
  'stop here',
  'stop the experiment',
  'cancel the order of plates',
  'stop codon',
  'no stop codon',
  'would that stop it?',
  'this stop',
  '<@UBOT>',
  'stop <@U2>',
  '<@U2> stop',
  '<@U2> please stop it',
  '`stop`',
  '`cancel`',
  '```stop```',
  '> stop',
  'stop <https://example.com|here>',
])('“%s” does not ask to stop', (text) => {
  expect(stop(text)).toBeUndefined();
});

test('words of other languages ask to stop where they are set, whole and in any case', () => {
  const further = ['halt bitte', 'arrête', 'やめて'];
  const said = ['Halt, bitte!', 'arrête', 'ARRÊTE.', 'やめて。'];
  expect(said.filter((text) => stop(text, {}, further) !== 'phrase')).toEqual([]);
  expect(stop('arrête')).toBeUndefined();
  expect(stop('halt bitte nicht', {}, further)).toBeUndefined();
  expect(['✋', '🙏'].map((text) => stop(text, {}, ['✋']))).toEqual(['phrase', undefined]);
});

test('a message with files does not ask to stop, and the rich text decides', () => {
  expect(stop('stop', { files: [{ name: 'a.csv' }] })).toBeUndefined();
  const section = { type: 'rich_text_section', elements: [{ type: 'text', text: 'stop.' }] };
  expect(stop('something else', { blocks: [{ type: 'rich_text', elements: [section] }] })).toBe('word');
});
