import { expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { pageStart, turnHtml } from '../../../src/render/record/record-page.ts';
import { describeInBrowser } from '../../support/browser-scene.ts';
import { startBrowser } from '../../support/chromium.ts';

const ada = { id: 'U1', name: 'Ada' };
const task = {
  ...{ id: 'tsk_1', title: 'Samples', channel: 'lab', url: null, model: '' },
  ...{ begunAt: new Date(0), starter: ada, savedAt: new Date(0), savedBy: ada },
};

function pageOf(writer: string, text: string, file = 'a.csv'): string {
  const answer = [{ kind: 'text', text }] as const;
  const kept = { sizeBytes: 1, mimeType: 'text/csv', sha256: 'a'.repeat(64) };
  const filesIn = [{ id: 'file_1', name: file, ...kept, place: { entry: 'a.csv' } }];
  const messages = [{ sentAt: new Date(0), text: 'for x in y:\n    print(x)' }];
  const rest = { skill: null, outcome: null, endedAt: null };
  const turn = {
    number: 1,
    writer: { id: 'U2', name: writer },
    messages,
    answer,
    filesIn,
    filesOut: [],
    ...rest,
  };
  return [pageStart(task), ...turnHtml(turn)].join('');
}

test('a question keeps its lines where a notebook keeps no class', () => {
  const asked = '<p style="white-space: pre-wrap">for x in y:<br>    print(x)</p>';
  expect(pageOf('Ada', 'Done.')).toContain(asked);
});

test('the numbers of sources are text, because notebooks count lists anew', () => {
  const text =
    'As in [3]. See doi:10.1038/nature12373.\n\n## References\n\n[1] A book.\n[3] PMID: 23903654\n';
  const [, list = ''] = pageOf('Ada', text).split('<h3>Sources</h3>');
  expect(
    list
      .replace(/<[^>]*>/g, '')
      .trim()
      .split('\n'),
  ).toEqual(['3. https://pubmed.ncbi.nlm.nih.gov/23903654', '4. https://doi.org/10.1038/nature12373']);
});

describeInBrowser('the page of a record', () => {
  test('breaks no number of a wide table over two lines', async () => {
    const cells = (cell: (column: number) => string) =>
      `| ${Array.from({ length: 24 }, (_, column) => cell(column)).join(' | ')} |`;
    const table = [cells((column) => `S${column}`), cells(() => '---'), cells((column) => `-${column}.25`)];
    const browser = await startBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
      await page.setContent([pageStart(task), ...markdownToHtml(table.join('\n'))].join(''));
      const lines: unknown = await page.evaluate(
        `[...document.querySelectorAll('td')].map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return range.getClientRects().length;
        })`,
      );
      expect(lines).toEqual(Array.from({ length: 24 }, () => 1));
    } finally {
      await browser.close();
    }
  });

  test('keeps a time behind a name of another direction, and a text in its own', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
      await page.setContent(pageOf('\u05d3\u05e0\u05d4', '\u05d7\u05dc\u05d1\u05d5\u05df p53.'));
      const [name, time, answer, width]: unknown[] = await page.evaluate(`(() => {
        const place = (node, side) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return Math.round(range.getBoundingClientRect()[side]);
        };
        const note = document.querySelector('.note');
        const answer = document.querySelector('main > p:last-of-type');
        const right = Math.round(answer.getBoundingClientRect().right);
        return [place(note.firstChild, 'left'), place(note.querySelector('time'), 'left'), place(answer, 'right'), right];
      })()`);
      expect(Number(name)).toBeLessThan(Number(time));
      expect(answer).toBe(width);
    } finally {
      await browser.close();
    }
  });

  test('is as wide as the window, however long the name of a file is', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1_000, height: 600 } });
      await page.setContent(pageOf('Ada', 'Done.', `${'sample_'.repeat(35)}.csv`));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1_000);
    } finally {
      await browser.close();
    }
  });
});
