import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import type { AgentService } from './agent/agent-service.ts';
import type { SampleTable } from './sample-table.ts';
import type { Message, SlackWorkspace } from './slack/slack-workspace.ts';

/** One statement about the demo, and whether it holds. */
export interface DemoCheck {
  description: string;
  passed: boolean;
}

const linkButton = z.looseObject({
  accessory: z.looseObject({ type: z.literal('button'), url: z.url() }),
  text: z.looseObject({ text: z.string() }),
});
const summaryRows = z.array(
  z.looseObject({ column: z.string(), count: z.coerce.number(), mean: z.coerce.number() }),
);

/** Checks the thread of `question`, in whose answer, `growing`, the bot was killed. */
export function checkThread(
  slack: SlackWorkspace,
  agent: AgentService,
  { question, growing }: { question: Message; growing: Message },
  table: SampleTable,
): DemoCheck[] {
  const thread = slack.thread(question.channel, question.ts);
  const texts = thread.map((message) => slack.visibleText(message));
  const whole = slack.visibleText(growing);
  const isWhole = whole.includes('My plan') && whole.includes('I saved the summary');
  const sent = agent.tasks.map(({ messages }) => messages.filter(({ role }) => role === 'user').length);
  const mean = table.columns.find(({ name }) => name === 'reads')?.mean ?? 0;
  return [
    {
      description: 'the answer that kill -9 cut off is complete, in one message',
      passed: isWhole && texts.filter((text) => text.includes('My plan')).length === 1,
    },
    {
      description: 'each of the three messages reached the agent once',
      passed: sent.toSorted((a, b) => a - b).join() === '1,2',
    },
    {
      description: `the follow-up's answer names the mean of reads (${mean.toFixed(2)})`,
      passed: texts.some((text) => text.includes(mean.toFixed(1)) || text.includes(mean.toFixed(0))),
    },
  ];
}

/** Downloads the results that the thread links to and compares them with the uploaded table. */
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
    { description: `the thread links to ${links.length} results`, passed: links.length === 2 },
  ];
  for (const { name, url } of links) {
    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    if (name.endsWith('.csv')) checks.push(...compareSummary(name, bytes, table));
    else checks.push({ description: `${name} is a PNG`, passed: bytes.subarray(1, 4).toString() === 'PNG' });
  }
  return checks;
}

function compareSummary(name: string, bytes: Buffer, table: SampleTable): DemoCheck[] {
  const rows = summaryRows.parse(parse(bytes, { columns: true }));
  return table.columns.map(({ name: column, mean }) => {
    const row = rows.find((candidate) => candidate.column === column);
    const passed =
      row !== undefined && row.count === table.rows && Math.abs(row.mean - mean) <= Math.abs(mean) * 1e-5;
    const description = `${name}: ${column} has ${table.rows} rows and a mean of ${mean.toFixed(4)}`;
    return { description, passed };
  });
}
