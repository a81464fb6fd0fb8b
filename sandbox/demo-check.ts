import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import type { SampleTable } from './sample-table.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

/** One thing that was looked at. */
export interface DemoCheck {
  what: string;
  right: boolean;
}

const linkButton = z.looseObject({
  accessory: z.looseObject({ type: z.literal('button'), url: z.url() }),
  text: z.looseObject({ text: z.string() }),
});
const summaryRows = z.array(
  z.looseObject({ column: z.string(), count: z.coerce.number(), mean: z.coerce.number() }),
);

/** Fetches the results by the links posted in the thread, and compares them with the table that was sent. */
export async function checkResults(
  slack: SlackWorkspace,
  channel: string,
  root: string,
  table: SampleTable,
): Promise<DemoCheck[]> {
  const links = slack
    .thread(channel, root)
    .flatMap((message) => message.blocks ?? [])
    .flatMap((block) => {
      const parsed = linkButton.safeParse(block);
      return parsed.success
        ? [{ name: parsed.data.text.text.split('\n')[0] ?? '', url: parsed.data.accessory.url }]
        : [];
    });
  const checks: DemoCheck[] = [
    { what: `${links.length} results are linked in the thread`, right: links.length === 2 },
  ];
  for (const { name, url } of links) {
    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (name.endsWith('.csv')) checks.push(...compareSummary(name, bytes, table));
    else checks.push({ what: `${name} is a PNG`, right: bytes.subarray(1, 4).toString() === 'PNG' });
  }
  return checks;
}

function compareSummary(name: string, bytes: Buffer, table: SampleTable): DemoCheck[] {
  const rows = summaryRows.parse(parse(bytes, { columns: true }));
  return table.columns.map(({ name: column, mean }) => {
    const row = rows.find((candidate) => candidate.column === column);
    const right =
      row !== undefined && row.count === table.rows && Math.abs(row.mean - mean) <= Math.abs(mean) * 1e-5;
    return { what: `${name}: ${column} has ${table.rows} rows and the mean ${mean.toFixed(4)}`, right };
  });
}
