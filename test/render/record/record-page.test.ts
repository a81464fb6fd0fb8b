import { expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { pageStart } from '../../../src/render/record/record-page.ts';
import { describeInBrowser } from '../../support/browser-scene.ts';
import { startBrowser } from '../../support/chromium.ts';

const ada = { id: 'U1', name: 'Ada' };
const task = {
  ...{ id: 'tsk_1', title: 'Samples', channel: 'lab', url: null, model: '' },
  ...{ begunAt: new Date(0), starter: ada, savedAt: new Date(0), savedBy: ada },
};

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
});
