import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { ANSWER_KEYS, AnswerFile } from '../../setup/connect/answer-file.ts';

function answersFrom(text: string): { file: AnswerFile; said: string[] } {
  const folder = mkdtempSync(path.join(tmpdir(), 'taskthread-answers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const name = path.join(folder, 'answers.yaml');
  writeFileSync(name, text);
  const said: string[] = [];
  return { file: new AnswerFile(name, (line) => said.push(line)), said };
}
const events = {
  key: 'events',
  message: 'How?',
  choices: [
    { value: 'socket', name: 'S', description: '' },
    { value: 'http', name: 'H', description: '' },
  ],
} as const;
const token = { key: 'bot_token', message: 'Bot token', secret: true, check: () => undefined } as const;

describe('an answer file', () => {
  test('answers questions, and shows secrets only in part', async () => {
    const { file, said } = answersFrom('events: http\nbot_token: xoxb-1234567890123456\nstart: false\n');
    expect(await file.choose(events)).toBe('http');
    expect(await file.ask(token)).toBe('xoxb-1234567890123456');
    expect(await file.confirm({ key: 'start', message: 'Start?', default: true })).toBe(false);
    expect(said).toEqual(['events: http', 'bot_token: xoxb-…3456 (21 characters)', 'start: false']);
  });

  test('leaves to the default what it does not answer', async () => {
    const { file } = answersFrom('');
    expect(await file.choose({ ...events, default: 'socket' })).toBe('socket');
    expect(await file.ask({ ...token, default: 'xoxb-kept' })).toBe('xoxb-kept');
    expect(await file.confirm({ key: 'start', message: 'Start?', default: true })).toBe(true);
  });

  test.each<[string, (file: AnswerFile) => Promise<unknown>, RegExp]>([
    ['', (file) => file.choose(events), /answers\.yaml: events is missing \(socket, http\)\. How\?/],
    ['events: mail', (file) => file.choose(events), /events is "mail"; it can be socket, http\./],
    ['', (file) => file.ask(token), /bot_token is missing\. Bot token/],
    [
      'bot_token: x',
      (file) => file.ask({ ...token, check: () => 'Copy it again.' }),
      /bot_token cannot be used\. Copy it again\./,
    ],
    ['', async (file) => file.reject('database', 'It is full.'), /database cannot be used\. It is full\./],
  ])('%j names what is missing or wrong', async (text, question, problem) => {
    await expect(question(answersFrom(text).file)).rejects.toThrow(problem);
  });

  test.each([
    ['bottoken: x', /bottoken.*It may contain: secrets, events/],
    ['start: often', /start: Invalid input/],
    ['a: [', /cannot be read/],
  ])('%j is refused as a whole', (text, problem) => {
    expect(() => answersFrom(text)).toThrow(problem);
  });

  test('has an example that explains every answer', () => {
    const example = readFileSync(new URL('../../setup/answers.example.yaml', import.meta.url), 'utf8');
    expect(Object.keys(parse(example))).toEqual(ANSWER_KEYS);
  });

  test('says if it is not there', () => {
    expect(() => new AnswerFile('/nowhere.yaml', () => undefined)).toThrow(/\/nowhere\.yaml cannot be read/);
  });
});
