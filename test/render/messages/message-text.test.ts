import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import {
  contextLineBlock,
  linkButton,
  messageOfBlocks,
  mrkdwnContextBlock,
  namedButton,
  sectionBlock,
} from '../../../src/render/blocks/slack-blocks.ts';
import { noteWithButtons, withButtonUsed } from '../../../src/render/messages/button-notes.ts';
import { sourceListMessage } from '../../../src/render/messages/checked-sources.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';
import { resultList, withoutLinks } from '../../../src/render/messages/result-list.ts';
import * as strings from '../../../src/render/strings/index.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

/** The text of the last message of a reply. */
function textOf(answer: string, more: Partial<DisplayedReply>): string {
  const blocks: ContentBlock[] = answer === '' ? [] : [{ kind: 'text', text: answer }];
  const state = { turnId, phase: 'done' as const, elapsedMs: 65_000, notes: [], maxMessages: 12 };
  return renderReply({ ...state, blocks, ...more }).at(-1)?.text ?? '';
}

describe('the text of a reply, for screen readers and notifications,', () => {
  test('begins with the answer, and ends with its notes and how it went', () => {
    const notes = ['“a.csv” was left out: it’s empty.', strings.answerAsks];
    expect(textOf('**Twelve** genes. Which next?', { notes })).toBe(
      ['Twelve genes. Which next?', ...notes, 'Took 1 min'].join('\n'),
    );
    const failed = strings.agentFailed('disk full');
    expect(textOf('Half of it', { phase: 'failed', sentence: failed })).toBe(
      `Half of it\n${failed}\nTook 1 min`,
    );
  });

  test('names the columns of a table that continues', () => {
    const rows = Array.from({ length: 90 }, (_, at) => `| gene-${at} | ${'x'.repeat(150)} |`);
    const answer = ['| gene | note |', '| --- | --- |', ...rows].join('\n');
    const state = { turnId, phase: 'done' as const, elapsedMs: 65_000, notes: [], maxMessages: 12 };
    const [, second] = renderReply({ ...state, blocks: [{ kind: 'text', text: answer }] });
    expect(second?.text).toMatch(/^gene; note\ngene-\d\d; x{150}\n/);
  });

  test('says that there is no answer', () => {
    expect(textOf('', {})).toBe(`${strings.emptyAnswer}\nTook 1 min`);
  });

  test('says the sentence in place of an answer, however long its notes are', () => {
    const notes = Array.from({ length: 30 }, (_, at) => `${at} ${'a'.repeat(200)}`);
    for (const length of [1_400, 1_500]) {
      const sentence = 'b'.repeat(length);
      const text = textOf('', { phase: 'failed', notes, sentence, askers: 'c '.repeat(200) });
      expect(Buffer.byteLength(text)).toBeLessThan(4_000);
      expect(text).toContain(sentence);
    }
  });

  test('begins with those whom it answers, if several ask', () => {
    const askers = strings.inAnswerTo(['ada', 'grace & co']);
    expect(textOf('Yes.', { askers })).toBe('Replying to ada and grace &amp; co\nYes.\nTook 1 min');
  });

  test('mentions nobody, and says the sentence however long answer and notes are', () => {
    for (const character of ['a', '漢', '&', '🧬']) {
      const notes = Array.from({ length: 30 }, (_, at) => `${at} ${character.repeat(200)}`);
      const sentence = strings.stopped('<!channel> ada');
      const askers = character.repeat(600);
      const more = { phase: 'cancelled', notes, sentence, askers } as const;
      const text = textOf(`${character.repeat(20)} `.repeat(100), more);
      expect(Buffer.byteLength(text)).toBeLessThan(4_000);
      expect(text).toMatch(/\nStopped by &lt;\u2060!channel&gt; ada\.\nTook 1 min$/);
      expect(text.isWellFormed()).toBe(true);
    }
  });
});

describe('the text of a list', () => {
  const result = (name: string) => ({
    name,
    sizeBytes: 2_000,
    mimeType: 'text/csv',
    url: 'https://f.example/1',
  });

  test('of files has their names, sizes and how to get the others', () => {
    const many = Array.from({ length: 60 }, (_, at) => result(`run-${at}.csv`));
    const { text } = resultList(many.slice(0, 2), { turnId, isComplete: false });
    expect(text.split('\n').slice(0, 3)).toEqual(['2 files from the agent', 'run-0.csv', '2 KB · CSV']);
    expect(text).toContain(strings.resultsIncomplete);
    expect(resultList(many, { turnId }).text).toContain(strings.moreResultsHint);
    expect(withoutLinks(resultList(many.slice(0, 2), { turnId })).text).toContain(strings.linksRefused);
  });

  test('of sources names each, and what registries say of it', () => {
    const blocks: ContentBlock[] = [{ kind: 'text', text: 'See doi:10.1234/abc1 and PMID 16990137.' }];
    expect(sourceListMessage(turnId, blocks)?.text).toBe('Sources\n1. 10.1234/abc1\n2. PMID 16990137');
    const retracted = { state: 'retracted', since: '2010-02-06', by: 'crossref', checkedAt: '' } as const;
    const checks = { 'doi:10.1234/abc1': retracted };
    const known = sourceListMessage(turnId, blocks, { checks, buttonUse: undefined });
    expect(known?.text).toContain(
      '\n1. 10.1234/abc1 ⛔ retracted on 2010-02-06\n2. PMID 16990137 – not checked\n',
    );
  });
});

describe('the text of any other message', () => {
  test('has what its blocks say, mrkdwn as it is and words as words', () => {
    const blocks = [sectionBlock('<!here> R&D\nx'), mrkdwnContextBlock('<https://a.example|b>')];
    expect(messageOfBlocks(blocks).text).toBe('&lt;\u2060!here&gt; R&amp;D\nx\n<https://a.example|b>');
  });

  test('has as many whole lines as Slack takes', () => {
    const line = `<https://a.example|${'x'.repeat(200)}>`;
    const { text } = messageOfBlocks(Array.from({ length: 40 }, () => mrkdwnContextBlock(line)));
    expect(Buffer.byteLength(text)).toBeLessThan(4_000);
    expect(new Set(text.split('\n'))).toEqual(new Set([line]));
  });

  test('has the beginning of a long text below a heading', () => {
    const { text } = messageOfBlocks([contextLineBlock('Ada commented:'), sectionBlock('漢'.repeat(3_000))]);
    expect(text).toMatch(/^Ada commented:\n漢{900,}…$/);
    expect(Buffer.byteLength(text)).toBeLessThan(4_000);
  });

  test('says who used a button, and stays as Slack gave it back otherwise', () => {
    const { blocks } = noteWithButtons('p &lt; 0.05', ['retry'], turnId);
    const used = withButtonUsed({ text: 'p &lt; 0.05 &amp; <@U1>', blocks }, 'Tried again by R&D.');
    expect(used?.text).toBe('p &lt; 0.05 &amp; <@U1>\nTried again by R&amp;D.');
    const long = withButtonUsed({ text: '<http://a.example/1|a.example/1>\n'.repeat(150), blocks }, 'Used.');
    expect(long?.text).toMatch(/^<http:.*>\n+Used\.$/s);
    expect(Buffer.byteLength(long?.text ?? '')).toBeLessThan(4_000);
  });
});

test('a button of a list says what it is about, in 75 characters, with the end of a name', () => {
  const label = (name: string) =>
    namedButton(linkButton('open_result', 'https://f.example'), name).accessibility_label;
  expect(label('a\nb.csv')).toBe('Download: a b.csv');
  expect(label(`${'long-'.repeat(40)}name.csv`)).toMatch(/^Download: long-.*….*name\.csv$/);
  expect(label('🧬'.repeat(90))?.length).toBeLessThanOrEqual(75);
});
