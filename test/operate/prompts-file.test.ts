import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPromptsFile } from '../../src/operate/prompts-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'prompts-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function read(text: string) {
  files += 1;
  const file = join(folder, `${files}.json`);
  writeFileSync(file, text);
  return readPromptsFile(file);
}

const prompt = { title: 'Plot', line: 'A volcano', prompt: 'Plot it' };
const json = (...prompts: object[]) => JSON.stringify(prompts);

describe("the operator's prompts", () => {
  test('may be prompts, skills, or prompts that run one; none without a file', () => {
    expect(readPromptsFile(undefined)).toEqual([]);
    const skill = { title: 'Annotate', line: 'Variants', skill: 'annotate me', note: 'of another program' };
    expect(read(`\ufeff${json(prompt, skill, { ...prompt, title: 'Both', skill: 'x' })}`)).toEqual([
      prompt,
      { title: 'Annotate', line: 'Variants', prompt: '--skill "annotate me"' },
      { title: 'Both', line: 'A volcano', prompt: '--skill "x" Plot it' },
    ]);
  });

  test.each([
    ['no JSON', '[', /expected array/],
    ['no list', '{}', /expected array/],
    ['an entry without a title', json(prompt, { ...prompt, title: undefined }), /entry 2, title: /],
    ['a long line', json({ ...prompt, line: 'x'.repeat(76) }), /entry 1, line: /],
    ['neither prompt nor skill', json({ ...prompt, prompt: undefined }), /entry 1, prompt: /],
    ['a title twice', json(prompt, prompt), /: two prompts have the same title/],
    ['a skill with quotes', json({ ...prompt, skill: 'a"b' }), /entry 1, skill: /],
    ['too many', json(...Array.from({ length: 21 }, (_, at) => ({ ...prompt, title: `${at}` }))), /Too big/],
  ])('are refused at the start with a sentence where the file holds %s', (_, text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
    expect(() => read(text)).toThrow(/PROMPTS_FILE is invalid/);
  });

  test('are refused where the file cannot be read', () => {
    expect(() => readPromptsFile(join(folder, 'none.json'))).toThrow(/cannot be read: ENOENT/);
  });
});
