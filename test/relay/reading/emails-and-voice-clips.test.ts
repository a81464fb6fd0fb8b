import { expect, test } from 'vitest';
import { emailText, transcriptBlocks } from '../../../src/relay/reading/emails-and-voice-clips.ts';
import { slackFileSchema } from '../../../src/slack/downloadable-files.ts';

const email = (fields: Record<string, unknown>) =>
  emailText(slackFileSchema.parse({ id: 'F1', mode: 'email', name: 'meow', ...fields }));

test('an e-mail has a head of what is known of it, each on one line', () => {
  const to = [{ address: 'a@b.example', name: '', original: '' }, { name: 'no address' }];
  const fields = {
    subject: 'Run 7\nBcc: x',
    plain_text: 'It worked.\n\n',
    to,
    cc: null,
    headers: { date: 7 },
  };
  expect(email(fields)).toEqual({
    name: 'Run 7 Bcc: x',
    text: 'Subject: Run 7 Bcc: x\nTo: a@b.example\n\nIt worked.\n',
  });
});

test('an e-mail without words, and any other file, has no text of its own', () => {
  expect(email({ plain_text: ' ' })).toBeUndefined();
  expect(email({ mode: 'hosted', plain_text: 'words' })).toBeUndefined();
  expect(email({ plain_text: 'words' })?.name).toBe('meow');
});

test('a transcript says whose it is, and whether Slack has more of it', () => {
  const said = (content: string, more: object = {}) =>
    JSON.stringify(
      transcriptBlocks([{ name: 'clip.m4a', transcription: { preview: { content, ...more } } }]),
    );
  expect(said('Hello')).toContain("[Slack's transcript of clip.m4a: Hello]");
  expect(said('Hello', { has_more: true })).toContain('Hello…]');
  expect(said(' ')).toBe('[]');
});
