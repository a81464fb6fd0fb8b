import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const findings = z.object({
  violations: z.array(
    z.looseObject({
      id: z.string(),
      impact: z.string().nullish(),
      nodes: z.array(z.looseObject({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** What axe-core finds serious or critical on the page as it is. */
export async function seriousFindings(page: Page): Promise<string[]> {
  return allFindings(page, ['serious', 'critical']);
}

/** What axe-core finds on the page as it is, of any impact or of these. */
export async function allFindings(page: Page, impacts?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = findings.parse(
    await page.evaluate('axe.run(document, { resultTypes: ["violations"] })'),
  );
  return violations
    .filter(({ impact }) => impacts?.includes(impact ?? '') !== false)
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}
