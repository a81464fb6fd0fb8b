import { expect, test } from 'vitest';
import { crateMetadata } from '../../../src/render/record/crate-metadata.ts';
import { pageStart, turnHtml } from '../../../src/render/record/record-page.ts';

const none = { sources: new Map(), leftOut: 0, text: '', page: { sizeBytes: 1, sha256: '' } };

test('hostile names and ids are text in the page, and values in the metadata', () => {
  const hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)>","@id":"./';
  const person = { id: hostile, name: hostile };
  const kept = { id: '../\ud800"', name: `../${hostile}`, sizeBytes: 1, mimeType: hostile, sha256: null };
  const file = { ...kept, place: { leftOut: 'gone' } };
  const at = new Date(0);
  const answer = [
    { kind: 'text', text: hostile },
    { kind: 'tool_use', id: '1', name: hostile, input: { a: hostile } },
    { kind: 'tool_result', toolUseId: '1', content: hostile },
  ] as const;
  const turn = {
    ...{ number: 1, writer: person, filesIn: [file] },
    messages: [{ sentAt: at, text: hostile, isEdited: true }],
    ...{ answer, filesOut: [file], skill: hostile, outcome: hostile, endedAt: at },
  };
  const names = { id: hostile, title: hostile, channel: hostile, model: hostile };
  const people = { starter: person, savedBy: person, begunAt: at, savedAt: at, url: null };
  const task = { ...names, ...people };
  expect(pageStart(task) + [...turnHtml(turn)].join('')).not.toMatch(/<script|<img/);
  const metadata: unknown = JSON.parse(crateMetadata({ task, turns: [turn], ...none }));
  expect(metadata).toMatchObject({ '@graph': { length: 11 } });
});

test('the metadata hold no character at which a reader of JSON stops', () => {
  const person = { id: 'U1', name: 'A\0da \ud83d' };
  const at = new Date(0);
  const task = { id: '1', title: 'One\0 \udc00', channel: 'lab', model: '', url: null };
  const people = { starter: person, savedBy: person, begunAt: at, savedAt: at };
  const metadata = crateMetadata({ task: { ...task, ...people }, turns: [], ...none, text: '\0' });
  expect(metadata).toContain('"name": "Ada \ufffd"');
  expect(metadata).not.toMatch(/\\u0000|\\ud[89a-f]/i);
});

test('the entry of a notebook names who else asked as contributors', () => {
  const [ada, grace] = [
    { id: 'U1', name: 'Ada' },
    { id: 'U2', name: 'Grace' },
  ];
  const at = new Date(0);
  const task = { id: '1', title: 'One', channel: 'lab', model: '', url: null };
  const people = { starter: ada, savedBy: grace, begunAt: at, savedAt: at };
  const rest = { filesIn: [], filesOut: [], skill: null, outcome: null, endedAt: at };
  const turns = [ada, grace, grace].map((writer, index) => ({ number: index + 1, writer, ...rest }));
  const metadata: unknown = JSON.parse(crateMetadata({ task: { ...task, ...people }, turns, ...none }));
  expect(metadata).toHaveProperty(
    '@graph',
    expect.arrayContaining([
      expect.objectContaining({
        ...{ '@id': './task/', author: { '@id': '#person-U1' } },
        contributor: [{ '@id': '#person-U2' }],
      }),
    ]),
  );
});
