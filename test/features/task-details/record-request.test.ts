import { expect, test } from 'vitest';
import { withPart } from '../../../src/features/task-details/record-request.ts';
import { recordNotes } from '../../../src/render/strings/index.ts';

test("a notebook's text has whole parts, and says once where the rest is", () => {
  const parts = ['<p>first</p>', 'x'.repeat(400_000), 'y'.repeat(200_000), '<p>last</p>'];
  const text = parts.reduce(withPart, '');
  expect(text).toBe(`<p>first</p>${parts[1]}<p>${recordNotes.goesOn}</p>\n`);
});
