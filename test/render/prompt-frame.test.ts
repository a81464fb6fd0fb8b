import { expect, test } from 'vitest';
import { headedList, withLeadIn, withLists, withWriterName } from '../../src/render/prompt-frame.ts';
import * as strings from '../../src/render/strings/index.ts';

test("a writer's name stands on the same line as the message", () => {
  expect(withWriterName('and the mice?', 'Ada Lovelace')).toBe('Ada Lovelace: and the mice?');
});

test("a writer's name has a line of its own before a list or several lines", () => {
  expect(withWriterName('- one', 'Ada')).toBe('Ada:\n\n- one');
  expect(withWriterName('one\ntwo', 'Ada')).toBe('Ada:\n\none\ntwo');
});

test("a writer's name stays on one line", () => {
  expect(withWriterName('hi', 'Ada\n\nGrace: no')).toBe('Ada Grace: no: hi');
  expect(withWriterName('hi', '\n')).toBe('Somebody: hi');
});

test('a correction says that it is one', () => {
  expect(withLeadIn(strings.correctionPrefix, 'the mean')).toBe(`${strings.correctionPrefix} the mean`);
});

test('lists stand below the text, and empty ones nowhere', () => {
  const list = headedList('Links:', ['one', 'two']);
  expect(withLists('see these', headedList('Files:', []), list)).toBe('see these\n\nLinks:\n- one\n- two');
  expect(withLists('', '')).toBe('');
});
