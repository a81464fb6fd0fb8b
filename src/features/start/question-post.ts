import { verbatimBlock } from '../../relay/reading/rich-text-parser.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import { contextLineBlock, mrkdwnContextBlock } from '../../render/blocks/slack-blocks.ts';
import { truncateBytes } from '../../render/markdown/fallback-text.ts';
import { MAX_TABLE_COLUMNS, MAX_TABLE_ROWS } from '../../render/markdown/markdown-node.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/shorten.ts';
import type { MessageContent } from '../../store/schema.ts';

const MAX_QUESTION_CHARACTERS = 6_000;
const MAX_QUOTE_CHARACTERS = 1_500;
const MAX_LABEL_CHARACTERS = 150;
/** Characters of a table and the quotations before it: about 12,000 are the limit of all blocks. */
const MAX_TABLE_TEXT = 8_000;

type TextTable = readonly (readonly string[])[];

export interface QuestionPostContent {
  /** Slack's id of who asks; undefined for a step of a workflow that names nobody. */
  person: string | undefined;
  /** Untrusted: what a step of a workflow calls itself. */
  label?: string | undefined;
  /** Untrusted; '' if the person only passes a message on. */
  question: string;
  /** The message that the question is about. */
  quote: string | undefined;
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' };
  files: readonly string[];
  /** Untrusted: the tables of the question and of the quote, as rows of cells. */
  tables?: readonly TextTable[];
  /** Where the same question was asked first. */
  firstLink?: string | undefined;
}

/** The post whose thread a task starts in: a question from a form or a workflow, verbatim, for everyone to see. */
export function questionPost(content: QuestionPostContent) {
  const { person, label, question, quote = '', choices, files, tables = [], firstLink } = content;
  const asks = question === '' ? strings.asksAbout : strings.asks;
  const name = label === undefined ? '' : shorten(neutralizePings(label), MAX_LABEL_CHARACTERS);
  const prefix = name === '' || person === undefined ? name : `${name} ${strings.asksFor} `;
  const asker = [
    ...(prefix === '' ? [] : [{ type: 'text', text: prefix } as const]),
    ...(person === undefined ? [] : [{ type: 'user', user_id: person } as const]),
    { type: 'text', text: ` ${asks}` } as const,
  ];
  const quotations = [
    { text: question, most: MAX_QUESTION_CHARACTERS },
    { text: quote, most: MAX_QUOTE_CHARACTERS },
  ]
    .filter(({ text }) => /\S/.test(text))
    .map(({ text, most }) => shorten(neutralizePings(text.trim()), most));
  const elements = [{ type: 'rich_text_section' as const, elements: asker }, ...quotations.map(quotation)];
  const blocks: ViewBlock[] = [{ type: 'rich_text', elements }];
  const room = MAX_TABLE_TEXT - quotations.join('').length;
  // Whether Slack takes several is not known.
  const table = tables.find((rows) => fits(rows, room));
  if (table !== undefined) blocks.push(tableBlock(table));
  if (firstLink !== undefined) blocks.push(mrkdwnContextBlock(strings.askedFirst(firstLink)));
  const chosen = strings.chosenOptions(choices, files);
  if (chosen !== '') blocks.push(contextLineBlock(shorten(chosen, 900)));
  const who = label === undefined ? `<@${person}> ` : '';
  return { text: who + truncateBytes(`${name} ${asks} ${question || quote}`.trim(), 3_500), blocks };
}

function quotation(text: string) {
  return { type: 'rich_text_quote' as const, elements: [{ type: 'text' as const, text }] };
}

/** Slack refuses an empty text. */
function tableBlock(table: TextTable) {
  const cell = (text: string) => ({ type: 'raw_text' as const, text: neutralizePings(text) || ' ' });
  return { type: 'table' as const, rows: table.map((row) => row.map(cell)) };
}

function fits(table: TextTable, room: number): boolean {
  const isNarrow = table.every(({ length }) => length <= MAX_TABLE_COLUMNS);
  return isNarrow && table.length <= MAX_TABLE_ROWS && table.flat().join(' ').length <= room;
}

/** Text exactly as typed: escaped, and as a block, so that Slack's markup has no effect. */
export function verbatimContent(text: string): Pick<MessageContent, 'text' | 'blocks'> {
  if (text === '') return { text };
  return { text: escapeMrkdwnText(text), blocks: [verbatimBlock(text)] };
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escapeMrkdwnText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
