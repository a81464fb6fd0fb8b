import { createHash } from 'node:crypto';
import type { AgentScript, AgentTurn, AttachedFile } from './agent-script.ts';
import { columnChart } from './column-chart.ts';
import { writePaper } from './paper-writer.ts';
import { continueReply, runPromptCommands } from './prompt-commands.ts';
import { replaceReferences } from './reference-list.ts';
import { counted, explainStatistics, writeLikeModel } from './sample-report.ts';
import {
  type ColumnSummary,
  formatNumber,
  summarizeTable,
  summaryCsv,
  summaryMarkdown,
  type TableSummary,
} from './table-summary.ts';

interface KnownTable extends TableSummary {
  file: string;
}

/** How the analyst answers; may be changed while it works. */
export interface AnalystHabits {
  /** Every message gets an answer as in a paper. */
  writesPapers: boolean;
}

/**
 * The sandbox's default agent: summarises attached tables, answers questions about them later in the task, and follows
 * the commands that the README lists.
 */
export function analyst(habits: AnalystHabits = { writesPapers: false }): AgentScript {
  const known = new Map<string, KnownTable[]>();
  /** What the tasks that begin with a plan are about, once the plan is shown. */
  const planned = new Map<string, Pick<AgentTurn, 'files' | 'text'>>();
  return async (turn) => {
    if (habits.writesPapers) return writePaper(turn);
    if ((await continueReply(turn)) || (await replaceReferences(turn))) return;
    const plan = planned.get(turn.task.id);
    if (turn.task.plansFirst === true && plan === undefined) {
      planned.set(turn.task.id, { files: turn.files, text: turn.text });
      return writeLikeModel(turn, `My plan:\n\n${planFor(turn.files)}\n\nShall I go ahead?`);
    }
    const approved = /^go ahead\b/i.test(turn.text) ? plan : undefined;
    planned.set(turn.task.id, { files: [], text: '' });
    const { rest, isCommanded } = await runPromptCommands(turn);
    const tables = known.get(turn.task.id) ?? [];
    known.set(turn.task.id, tables);
    const files = [...turn.files, ...(approved?.files ?? [])];
    if (files.length > 0) await readFiles(turn, files, tables);
    else if (rest !== '') await answer(turn, ownWords(approved?.text || rest), { tables, isCommanded });
  };
}

function planFor(files: readonly AttachedFile[]): string {
  const plan = files.some((file) => delimiterOf(file) !== undefined) ? TABLE_PLAN : FILE_PLAN;
  return plan.map((step, index) => `${index + 1}. ${step}`).join('\n');
}

async function readFiles(
  turn: AgentTurn,
  files: readonly AttachedFile[],
  tables: KnownTable[],
): Promise<void> {
  const names = files.map(({ name }) => `\`${name}\``).join(', ');
  const skill = turn.skill === null ? '' : ` with the skill \`${turn.skill}\``;
  await writeLikeModel(turn, `I will look at ${names}${skill}. My plan:\n\n${planFor(files)}\n\n`);
  for (const file of files) {
    const delimiter = delimiterOf(file);
    if (delimiter === undefined) await describe(turn, file);
    else await summarise(turn, file, delimiter, tables);
  }
}

/** How long a tool is seen at work. */
const TOOL_MS = 1_500;
const TABLE_PLAN = [
  'Read every row and look for gaps.',
  'Summarise the columns that hold numbers.',
  'Chart them, each on its own scale.',
] as const;
const FILE_PLAN = ['Find out what kind of file it is.', 'Report its size and its checksum.'] as const;

async function summarise(
  turn: AgentTurn,
  file: AttachedFile,
  delimiter: ',' | '\t',
  tables: KnownTable[],
): Promise<void> {
  let table: KnownTable = { file: file.name, rows: 0, header: [], columns: [] };
  await turn.tool('read_table', { filename: file.name, bytes: file.size }, async () => {
    table = { file: file.name, ...(await summarizeTable(await file.open(), delimiter)) };
    await turn.sleep(TOOL_MS);
    return JSON.stringify({ rows: table.rows, columns: table.header });
  });
  tables.push(table);
  const { rows, header, columns } = table;
  await writeLikeModel(turn, `## ${file.name}\n\n`);
  const numeric =
    columns.length === header.length
      ? 'all of them hold'
      : `${columns.length || 'none'} of them ${columns.length === 1 ? 'holds' : 'hold'}`;
  await writeLikeModel(
    turn,
    `The table has **${counted(rows, 'row')}** and ${counted(header.length, 'column')}; ${numeric} numbers.\n\n`,
  );
  const stem = file.name.replace(/\.[^.]*$/, '');
  const [summaryName, chartName] = [`${stem}-summary.csv`, `${stem}-chart.png`];
  const names = columns.map(({ name }) => name).join(', ');
  if (columns.length > 0) {
    await turn.tool('summarise_columns', { columns: names }, () => JSON.stringify(columns.map(rounded)));
    await writeLikeModel(turn, `${summaryMarkdown(table)}\n\n`);
    await writeLikeModel(turn, `What stands out:\n\n${remarks(table)}\n\n`);
  }
  await turn.result(summaryName, 'text/csv', summaryCsv(table));
  await turn.tool('draw_chart', { filename: chartName, columns: names }, async () => {
    await turn.sleep(TOOL_MS);
    await turn.result(chartName, 'image/png', columnChart(columns));
    return `Saved as ${chartName}`;
  });
  await writeLikeModel(
    turn,
    `I saved the summary as \`${summaryName}\` and the chart as \`${chartName}\`.\n\n`,
  );
}

function rounded({ name, count, mean, min, max }: ColumnSummary) {
  return { name, count, mean: formatNumber(mean), min: formatNumber(min), max: formatNumber(max) };
}

/** Reports the size and digest of a file that is not a table. */
async function describe(turn: AgentTurn, file: AttachedFile): Promise<void> {
  const digest = await turn.tool(
    'compute_checksum',
    { filename: file.name, algorithm: 'SHA-256' },
    async () => {
      const hash = createHash('sha256');
      for await (const chunk of await file.open()) hash.update(chunk);
      return hash.digest('hex');
    },
  );
  const kind = `\`${file.name}\` (${file.mime}) is not a table that I can read.`;
  await writeLikeModel(
    turn,
    `${kind} It has ${counted(file.size, 'byte')}, and its SHA-256 is \`${digest}\`.\n\n`,
  );
}

function remarks({ rows, columns }: TableSummary): string {
  const spread = columns.toSorted((a, b) => variation(b) - variation(a))[0];
  const gaps = columns.filter(({ count }) => count < rows);
  const lines = gaps.map(({ name, count }) => `- \`${name}\` is missing in ${counted(rows - count, 'row')}.`);
  if (gaps.length === 0) lines.push('- No number is missing.');
  if (spread !== undefined && columns.length > 1) {
    const range = `from ${formatNumber(spread.min)} to ${formatNumber(spread.max)}`;
    lines.push(`- \`${spread.name}\` varies most for its mean: ${range}.`);
  }
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

/** Answers a question. A message that had commands besides needs no answer for want of a better one. */
async function answer(
  turn: AgentTurn,
  text: string,
  { tables, isCommanded }: { tables: readonly KnownTable[]; isCommanded: boolean },
): Promise<void> {
  const lines = tables.flatMap((table) => factsFor(text, table));
  if (lines.length > 0) await writeLikeModel(turn, `From what I have read here:\n\n${lines.join('\n')}\n`);
  else if (/\bstandard (?:deviation|error)\b/i.test(text)) await explainStatistics(turn);
  else if (isCommanded) return;
  else if (tables.length > 0) await offerFacts(turn, tables);
  else await describeMessage(turn, text);
}

async function offerFacts(turn: AgentTurn, tables: readonly KnownTable[]): Promise<void> {
  const lines = tables.map(({ file, rows, header }) => {
    const names = header.map((name) => `\`${name}\``).join(', ');
    return `- \`${file}\` has ${counted(rows, 'row')} and the columns ${names}.`;
  });
  await writeLikeModel(
    turn,
    `I have read ${counted(tables.length, 'table')} here:\n\n${lines.join('\n')}\n\n`,
  );
  await writeLikeModel(turn, 'Ask me for the mean, min, max, sd or count of a column that holds numbers.\n');
}

async function describeMessage(turn: AgentTurn, text: string): Promise<void> {
  const words = text.split(/\s+/).filter((word) => word !== '');
  await writeLikeModel(
    turn,
    "I am the sandbox's agent: I summarise CSV and TSV files and know nothing else.\n\n",
  );
  await writeLikeModel(turn, `You wrote ${counted(words.length, 'word')}: ${quoted(text)}`);
  const before = turn.history.filter(({ role }) => role === 'user');
  const last = before.at(-1);
  if (last !== undefined) {
    const which = before.length === 1 ? '' : ', the last one';
    const sent = `Before that you sent ${counted(before.length, 'message')}${which}: ${quoted(ownWords(last.text))}`;
    await writeLikeModel(turn, `\n\n${sent}`);
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

/** A message without what is quoted before it: standing instructions, and earlier messages. */
function ownWords(text: string): string {
  return text.replace(/^[\s\S]*\n---\n\nThe (?:message|question):\n\n/, '');
}

/** A text in quotes, shortened, as the end of a sentence. */
function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const shown = line.length <= 160 ? line : `${line.slice(0, 160)}…`;
  return `"${shown}"${/[.?!…]$/.test(shown) ? '' : '.'}`;
}

function delimiterOf({ name, mime }: AttachedFile): ',' | '\t' | undefined {
  if (/\.(?:tsv|tab)$/i.test(name) || mime === 'text/tab-separated-values') return '\t';
  if (/\.csv$/i.test(name) || mime === 'text/csv') return ',';
  return undefined;
}
