import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  displayedFileName,
  resultList,
  resultModalBlocks,
  resultPages,
} from '../../../src/render/messages/result-list.ts';
import * as strings from '../../../src/render/strings/index.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

function result(index: number, linkLength = 60) {
  const start = `https://files.example/r/${index}?sig=`;
  return {
    name: `result-${index}.csv`,
    sizeBytes: 1_000 * index,
    mimeType: 'text/csv',
    url: start + 'a'.repeat(Math.max(0, linkLength - start.length)),
  };
}

describe('results', () => {
  test('of 250 files with links of 2,500 characters are all posted, within the limits', () => {
    const results = Array.from({ length: 250 }, (_, index) => result(index + 1, 2_500));
    const messages = resultPages(results);
    const all = JSON.stringify(messages);
    for (const { name, url } of results) {
      expect(all).toContain(`${name}\\n`);
      expect(all).toContain(url);
    }
    for (const { blocks, text } of messages) {
      expect(checkBlocks(blocks, 'message').length).toBeLessThanOrEqual(50);
      expect(Buffer.byteLength(text)).toBeLessThan(4_000);
    }
  });

  test('are listed in one message with two buttons, and says where the others are', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...result(index + 1), note: 'too large' }));
    const list = resultList(many, { turnId });
    expect(checkBlocks(list.blocks, 'message').length).toBeLessThanOrEqual(50);
    const shown = JSON.stringify(list);
    expect(shown.match(/fresh_links/g)).toHaveLength(1);
    expect(shown.match(/download_all/g)).toHaveLength(1);
    expect(JSON.stringify(resultList(many.slice(0, 1), { turnId }))).not.toContain('download_all');
    expect(shown).toContain(strings.moreResultsHint);
    expect(shown).toContain('60 files from the agent, 1 to 46');
    expect(shown).toContain('CSV · too large');
    expect(JSON.stringify(resultPages(many))).not.toContain('fresh_links');
  });

  test.each([
    ['counts.csv', 'CSV'],
    ['genome.2bit', '2BIT'],
    ['run 2026.11.20', 'text/plain'],
  ])('have a kind: %s is %s', (name, kind) => {
    const pages = resultPages([{ ...result(1), name, mimeType: 'text/plain; charset=utf-8' }]);
    expect(JSON.stringify(pages)).toContain(`1 KB · ${kind}"`);
  });

  test('say until when all of their links work, only if every link says so', () => {
    const [soon, late] = ['2026-11-30T14:05:00Z', '2026-12-01T00:00:00Z'].map((at) => new Date(at));
    const shown = (...times: (Date | undefined)[]) =>
      JSON.stringify(
        resultList(
          times.map((worksUntil, at) => ({ ...result(at), worksUntil })),
          { turnId },
        ),
      );
    expect(shown(late, soon)).toContain(
      'until <!date^1796047500^{date_short_pretty} at {time}|2026-11-30 14:05 UTC>',
    );
    expect(shown(late, undefined)).toContain(
      'These links work for a limited time; press Get fresh links for new ones.',
    );
  });

  test('fit a modal unless they need several messages or a link that is too long for a button', () => {
    const results = (count: number, length?: number) =>
      Array.from({ length: count }, (_, at) => result(at + 1, length));
    const blocks = resultModalBlocks(results(46, 2_900)) ?? [];
    expect(checkBlocks(blocks, 'modal')).toHaveLength(48);
    expect(JSON.stringify(blocks).length).toBeLessThan(200_000);
    expect(resultModalBlocks(results(60))).toBeUndefined();
    expect(resultModalBlocks(results(1, 3_100))).toBeUndefined();
  });

  test.each([null, 'javascript:alert(1)', 'not a link', `https://x.example/${'a'.repeat(10_000)}`])(
    'with the link %.40s are named without it',
    (url) => {
      const [message] = resultPages([{ ...result(1), url }]);
      expect(JSON.stringify(message?.blocks)).toContain('result-1.csv');
      expect(JSON.stringify(message?.blocks)).not.toContain('"url"');
    },
  );

  test.each([
    ['a/b\\c\u0000d\n.csv', 'a/b\\c d .csv'],
    ['\u202Etxt.exe', 'txt.exe'],
    ['   ', 'unnamed file'],
  ])('name %j safely', (name, shown) => {
    expect(displayedFileName(name)).toBe(shown);
  });

  test('shorten a long name in its middle and ping nobody', () => {
    expect(displayedFileName(`${'x'.repeat(400)}.fastq.gz`).endsWith('.fastq.gz')).toBe(true);
    expect(displayedFileName('<!channel> @here.csv')).not.toMatch(/<!channel>|@here/);
  });
});

describe('the sentence for a file that was left out', () => {
  test.each([
    'missing_scope',
    'external',
    'deleted',
    'hidden_by_plan',
    'too_large',
    'empty',
    'not_a_file',
    'access_denied',
    'processing',
    'broken_off',
    'changed',
    'other_host',
    'service_refused',
    'skipped',
    'something new',
  ])('%s names the file and the reason', (reason) => {
    const said = strings.fileMissing({
      name: 'run 18.csv',
      reason,
      sizeBytes: 3_000_000,
      limits: {
        maxFileBytes: 2_000_000,
        maxMessageBytes: 1,
        maxMessageFiles: 1,
        allowedTypes: [],
        refusedTypes: [],
      },
    });
    expect(said).toMatch(/^“run 18\.csv”( was left out)?: .{10,}\.$/);
  });
});
