import { createHash } from 'node:crypto';
import type { AgentScript, AgentTurn, AttachedFile } from './agent-script.ts';
import { barChart } from './bar-chart.ts';
import { runPromptCommands } from './prompt-commands.ts';
import { writeLikeModel } from './sample-prose.ts';
import {
  formatNumber,
  summarizeTable,
  summaryCsv,
  summaryMarkdown,
  type TableSummary,
} from './table-summary.ts';

interface KnownTable extends TableSummary {
  file: string;
}

/**
 * The sandbox's default agent: summarises attached tables, answers questions about them later in the task, and follows
 * the commands that the README lists.
 */
export function analyst(): AgentScript {
  const known = new Map<string, KnownTable[]>();
  return async (turn) => {
    const rest = await runPromptCommands(turn);
    const tables = known.get(turn.task.id) ?? [];
    known.set(turn.task.id, tables);
    if (turn.files.length > 0) await readFiles(turn, tables);
    else if (rest !== '') await answer(turn, rest, tables);
  };
}

async function readFiles(turn: AgentTurn, tables: KnownTable[]): Promise<void> {
  const names = turn.files.map(({ name }) => `\`${name}\``).join(', ');
  const skill = turn.skill === null ? '' : ` I use the skill \`${turn.skill}\`.`;
  await writeLikeModel(turn, `I will look at ${names} and summarise what is in there.${skill}\n\n`);
  for (const file of turn.files) {
    const delimiter = delimiterOf(file);
    if (delimiter === undefined) await describe(turn, file);
    else await summarise(turn, file, delimiter, tables);
  }
}

async function summarise(
  turn: AgentTurn,
  file: AttachedFile,
  delimiter: ',' | '\t',
  tables: KnownTable[],
): Promise<void> {
  await turn.tool('open_table', { filename: file.name }, () => `${file.size} bytes of ${file.mime}`);
  let table: KnownTable = { file: file.name, rows: 0, header: [], columns: [] };
  await turn.tool('summarise_table', { file_id: file.id, filename: file.name }, async () => {
    table = { file: file.name, ...(await summarizeTable(await file.open(), delimiter)) };
    const { rows, header, columns } = table;
    return JSON.stringify({ rows, columns: header.length, numeric_columns: columns.length });
  });
  tables.push(table);
  const { rows, header, columns } = table;
  await writeLikeModel(turn, `## ${file.name}\n\n`);
  await writeLikeModel(
    turn,
    `The table has **${rows} rows** and ${header.length} columns, ${columns.length} of numbers.\n\n`,
  );
  const stem = file.name.replace(/\.[^.]*$/, '');
  if (columns.length > 0) {
    await writeLikeModel(turn, `${summaryMarkdown(table)}\n\n`);
    await writeLikeModel(turn, `What stands out:\n\n${remarks(table)}\n\n`);
  }
  await turn.result(`${stem}-summary.csv`, 'text/csv', summaryCsv(table));
  const bars = columns.map(({ mean }) => ({ label: formatNumber(mean), value: mean }));
  const shown = bars.length > 0 ? bars : [{ label: String(rows), value: rows }];
  await turn.tool('draw_chart', { filename: `${stem}-chart.png` }, async () => {
    await turn.result(`${stem}-chart.png`, 'image/png', barChart(shown.slice(0, 60)));
    return `${Math.min(shown.length, 60)} bars`;
  });
  await writeLikeModel(
    turn,
    `I saved the summary as \`${stem}-summary.csv\` and a chart as \`${stem}-chart.png\`.\n\n`,
  );
}

/** Reports the size and digest of a file that is not a table. */
async function describe(turn: AgentTurn, file: AttachedFile): Promise<void> {
  const digest = await turn.tool('hash_file', { file_id: file.id, filename: file.name }, async () => {
    const hash = createHash('sha256');
    for await (const chunk of await file.open()) hash.update(chunk);
    return hash.digest('hex');
  });
  const kind = `\`${file.name}\` (${file.mime}) is not a table that I can read.`;
  await writeLikeModel(turn, `${kind} It has ${file.size} bytes; its SHA-256 is \`${digest}\`.\n\n`);
}

function remarks({ rows, columns }: TableSummary): string {
  const spread = columns.toSorted((a, b) => variation(b) - variation(a))[0];
  const gaps = columns.filter(({ count }) => count < rows);
  const lines = [`- ${columns.length} columns hold numbers in every row that has a value.`];
  if (spread !== undefined) {
    lines.push(
      `- \`${spread.name}\` varies most: from ${formatNumber(spread.min)} to ${formatNumber(spread.max)}.`,
    );
  }
  for (const { name, count } of gaps) lines.push(`- \`${name}\` is missing in ${rows - count} rows.`);
  return lines.join('\n');
}

function variation({ sd, mean }: { sd: number; mean: number }): number {
  return Number.isFinite(sd) && mean !== 0 ? Math.abs(sd / mean) : 0;
}

const STATISTICS = [
  { key: 'mean', words: /\b(?:mean|average)\b/i },
  { key: 'min', words: /\b(?:min|minimum|lowest|smallest)\b/i },
  { key: 'max', words: /\b(?:max|maximum|highest|largest)\b/i },
  { key: 'sd', words: /\b(?:sd|deviation|spread)\b/i },
  { key: 'count', words: /\b(?:count|how many)\b/i },
] as const;

async function answer(turn: AgentTurn, text: string, tables: readonly KnownTable[]): Promise<void> {
  const lines = tables.flatMap((table) => factsFor(text, table));
  if (lines.length > 0) {
    await writeLikeModel(turn, `From the tables of this task:\n\n${lines.join('\n')}\n`);
    return;
  }
  const words = text.split(/\s+/).filter((word) => word !== '');
  const numbers = words.filter((word) => /\d/.test(word));
  await writeLikeModel(
    turn,
    "I am the sandbox's agent: I summarise CSV and TSV files and know nothing else.\n\n",
  );
  await writeLikeModel(turn, `You wrote ${words.length} words: "${excerpt(text)}".`);
  if (numbers.length > 0) await writeLikeModel(turn, ` I see the numbers ${numbers.slice(0, 8).join(', ')}.`);
  const before = turn.history.filter(({ role }) => role === 'user');
  const last = before.at(-1);
  if (last !== undefined) {
    await writeLikeModel(
      turn,
      `\n\nBefore that you sent ${before.length} messages, the last one "${excerpt(last.text)}".`,
    );
  }
  if (tables.length > 0) {
    const names = tables.map(({ file, columns }) => {
      return `- \`${file}\`: ${columns.map(({ name }) => `\`${name}\``).join(', ')}`;
    });
    await writeLikeModel(
      turn,
      `\n\nYou can ask me for the mean, min, max, sd or count of:\n\n${names.join('\n')}`,
    );
  }
  await writeLikeModel(turn, '\n');
}

/** The statistics that a question asks for, of the columns that it names. */
function factsFor(text: string, table: KnownTable): string[] {
  const asked = STATISTICS.filter(({ words }) => words.test(text));
  const columns = table.columns.filter(({ name }) => mentions(text, name));
  const facts = columns.flatMap((column) => {
    return asked.map(
      ({ key }) => `- ${key} of \`${column.name}\` in \`${table.file}\`: **${formatNumber(column[key])}**`,
    );
  });
  return /\brows\b/i.test(text) ? [...facts, `- \`${table.file}\` has **${table.rows} rows**`] : facts;
}

function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (at === -1 || name === '') return false;
  const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
  return !/\w/.test(around);
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 160 ? line : `${line.slice(0, 160)}…`;
}

function delimiterOf({ name, mime }: AttachedFile): ',' | '\t' | undefined {
  if (/\.(?:tsv|tab)$/i.test(name) || mime === 'text/tab-separated-values') return '\t';
  if (/\.csv$/i.test(name) || mime === 'text/csv') return ',';
  return undefined;
}
