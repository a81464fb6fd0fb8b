import * as frame from '../src/render/prompt-frame.ts';
import * as strings from '../src/render/strings/index.ts';

/** A prompt, taken apart. */
export interface ReadPrompt {
  /** What the person wrote, with what the bot reads of it: its tables, forwarded messages and previews of links. */
  text: string;
  /** Each quotation before it, with its headings. */
  quotations: string[];
  /** Each list below it, with its heading. */
  lists: string[];
}

/** Stands for a name that Slack did not return. */
const PERSON_ID = /\bU[0-9A-Z]+/g;

/**
 * Undoes the frame of a prompt by the functions that make it, in whatever order they stand around the text. `names` are
 * those of the people in its thread. What the frame does not know stays in the text: compare that with what was said.
 */
export function readPrompt(prompt: string, names: readonly string[]): ReadPrompt {
  const read: ReadPrompt = { text: prompt, quotations: [], lists: [] };
  const known = [...names, ...(prompt.match(PERSON_ID) ?? [])];
  const naming = new Set([frame.withUnnamedWriter, frame.withWriterName]);
  for (let before = ''; before !== read.text; ) {
    before = read.text;
    takeQuotation(read);
    for (const make of naming) if (takeName(read, make, known)) naming.delete(make);
  }
  takeLists(read);
  return read;
}

/** The messages of one person that went as one text, one below the other; the text itself if it is not all of `said`. */
export function messagesIn(text: string, said: ReadonlySet<string>): string[] {
  for (let end = text.indexOf('\n\n'); end >= 0 && !said.has(text); end = text.indexOf('\n\n', end + 1)) {
    const [first, rest] = [text.slice(0, end), text.slice(end + 2)];
    const others = said.has(first) ? messagesIn(rest, said) : [];
    if (others.length > 0 && others.every((one) => said.has(one))) return [first, ...others];
  }
  return [text];
}

/** What stands between a quotation and a text. */
const DIVIDERS = [strings.questionBelow, strings.messageBelow].map((heading) =>
  leadOf((text) => frame.withQuotation('>', text, heading), 'a').slice(1),
);

function takeQuotation(read: ReadPrompt): void {
  for (const divider of DIVIDERS) {
    const end = read.text.indexOf(divider);
    const quotation = read.text.slice(0, Math.max(end, 0));
    if (!isQuotation(quotation)) continue;
    read.quotations.push(quotation);
    read.text = read.text.slice(end + divider.length);
  }
}

/** Headings and quoted lines take turns. */
function isQuotation(text: string): boolean {
  const parts = text.split('\n\n');
  const isQuoted = (part: string) => part.split('\n').every((line) => line.startsWith('>'));
  return parts.length % 2 === 0 && parts.every((part, index) => isQuoted(part) === (index % 2 === 1));
}

function takeName(
  read: ReadPrompt,
  make: (text: string, name: string) => string,
  names: readonly string[],
): boolean {
  const leads = names.flatMap((name) => ['a', 'a\nb'].map((text) => leadOf((own) => make(own, name), text)));
  const lead = leads.find((one) => read.text.startsWith(one));
  read.text = read.text.slice(lead?.length ?? 0);
  return lead !== undefined;
}

/** What a function of the frame puts before this text. Throws if the text is not what it ends with. */
function leadOf(make: (text: string) => string, text: string): string {
  const made = make(text);
  if (!made.endsWith(text)) throw new Error(`This frame does not end with its text: ${JSON.stringify(made)}`);
  return made.slice(0, made.length - text.length);
}

const LISTS = [strings.linkedFiles(1), strings.linkedFiles(2), strings.leftOut, strings.alteredTables];

function takeLists(read: ReadPrompt): void {
  for (;;) {
    const at = Math.max(...LISTS.map((heading) => read.text.lastIndexOf(`\n\n${heading}\n`)));
    const [text, list] = [read.text.slice(0, Math.max(at, 0)), read.text.slice(at + 2)];
    const [heading = '', ...items] = list.split('\n');
    const made = frame.headedList(
      heading,
      items.map((item) => item.slice(2)),
    );
    if (at < 0 || made !== list || frame.withLists(text, list) !== read.text) return;
    read.lists.unshift(list);
    read.text = text;
  }
}
