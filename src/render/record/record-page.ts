import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { SourceChecks } from '../../registries/source-check.ts';
import { markdownToHtml } from '../markdown/markdown-to-html.ts';
import { withoutSignedLinks } from '../markdown/signed-links-in-text.ts';
import { answerText } from '../messages/answer-text.ts';
import { moreAbout } from '../messages/checked-sources.ts';
import { type Source, sourcesOf } from '../messages/sources.ts';
import { callTitle, type ToolCall, toolCalls } from '../messages/tool-steps.ts';
import { inputText, wholeValue } from '../messages/tool-values.ts';
import { modelName, ncbiDisclaimer, recordNotes, sourceFinding } from '../strings/index.ts';
import { escapeHtml, formatSize } from '../text-format.ts';

/** A task, as its record names it. All texts and names here are untrusted. */
export interface RecordedTask {
  id: string;
  title: string;
  channel: string;
  url: string | null;
  model: string;
  begunAt: Date;
  starter: RecordedPerson;
  savedAt: Date;
  savedBy: RecordedPerson;
}

export interface RecordedPerson {
  /** Slack's. */
  id: string;
  name: string;
}

export interface RecordedFile {
  /** The service's. */
  id: string;
  name: string;
  sizeBytes: number | null;
  mimeType: string;
  /** In hexadecimal digits; null where the bytes did not pass through the app. */
  sha256: string | null;
  /** Who uploaded it, where Slack says. */
  ownerId?: string | undefined;
  /** Its name in the archive, or why it is not there. */
  place: { entry: string } | { leftOut: string };
}

/** What somebody sent the agent. */
export interface RecordedMessage {
  sentAt: Date;
  /** The message that it is about, in plain text. */
  about?: { writer: string; text: string } | undefined;
  /** Plain text as it was sent, or as it is now where that is no longer kept; undefined where a button sent it. */
  text: string | undefined;
  /** It was edited after it was sent. */
  isEdited?: boolean;
  /** What it says since that edit, beside what was sent. */
  now?: string;
}

/** A question with its answer. */
export interface RecordedTurn<File = RecordedFile> {
  /** From 1. */
  number: number;
  writer: RecordedPerson;
  /** In order: what one person wrote while the agent worked goes as one question. */
  messages: readonly RecordedMessage[];
  filesIn: readonly File[];
  /** The agent's reply, or a sentence why there is none. */
  answer: readonly ContentBlock[] | string;
  /** What registries said of its sources. */
  sourceChecks?: SourceChecks;
  filesOut: readonly File[];
  skill: string | null;
  outcome: string | null;
  endedAt: Date | null;
}

export interface RecordedReview {
  status: string;
  text: string;
}

/** The most of one text of a step (characters): one step is one slice. */
const MAX_STEP_CHARACTERS = 200_000;

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1d1c1d; background: #fff; max-width: 52rem; margin: 0 auto; padding: 1.5rem; }
h1, h2, h3, h4, summary { line-height: 1.25; break-after: avoid; }
h2 { border-top: 1px solid #767676; padding-top: 1rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt, summary { font-weight: 600; }
dd { margin: 0; }
p, li, dd, td, code { overflow-wrap: anywhere; }
p { white-space: pre-line; }
p:not(.note), li, dd, td, th, h1, h4 { unicode-bidi: plaintext; }
time, code { unicode-bidi: isolate; }
blockquote { margin: 0 0 1rem; padding-left: 1rem; border-left: 3px solid #767676; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: .5rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid #767676; padding: .2rem .5rem; text-align: left; vertical-align: top; }
tr { break-inside: avoid; }
a { color: #0b4c8c; }
.note { color: #505050; }
.sources { list-style: none; padding: 0; }
.size { white-space: nowrap; }
.file { overflow-wrap: anywhere; min-width: 12rem; }
@media screen { td { overflow-wrap: normal; } .step pre { max-height: 24rem; overflow: auto; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } }`;

/** The beginning of the page, which loads nothing and runs nothing. */
export function pageStart(task: RecordedTask): string {
  const title = `Record of a task: ${escapeHtml(task.title)}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer"><title>${title}</title><style>${STYLE}
</style></head>
<body><main>
<h1>${title}</h1>
${taskFacts(task)}`;
}

/** What is known of a task as a whole. */
export function taskFacts(task: RecordedTask): string {
  return `<dl>
<dt>Channel</dt><dd>${escapeHtml(task.channel)}</dd>
<dt>Thread in Slack</dt><dd>${task.url === null ? 'not known' : linkTo(task.url)}</dd>
<dt>Started</dt><dd>${time(task.begunAt)} by ${escapeHtml(task.starter.name)}</dd>
<dt>Model</dt><dd>${escapeHtml(modelName(task.model))}</dd>
<dt>Id of the task</dt><dd>${escapeHtml(task.id)}</dd>
<dt>Saved</dt><dd>${time(task.savedAt)} by ${escapeHtml(task.savedBy.name)}</dd>
</dl>
`;
}

/** A question with its answer but for its steps, in pieces that each take one slice to make. */
export function* turnHtml(turn: RecordedTurn): Generator<string> {
  const { number, writer, messages, answer, skill, outcome, endedAt } = turn;
  yield `<h2 id="question-${number}">Question ${number}</h2>\n`;
  for (const message of messages) yield messageHtml(message, writer);
  if (skill !== null) yield note([`skill: ${escapeHtml(skill)}`]);
  yield filesHtml('Files sent to the agent', turn.filesIn);
  const ended = [endedAt === null ? 'not finished when this was saved' : time(endedAt)];
  if (outcome !== null && outcome !== 'completed') ended.push(escapeHtml(`ended: ${outcome}`));
  yield `<h3>Answer</h3>\n${note(['Agent', ...ended])}`;
  yield* typeof answer === 'string' ? [note([answer])] : answerHtml(answer, turn.sourceChecks ?? {});
  yield filesHtml('Files made by the agent', turn.filesOut);
}

function messageHtml(
  { sentAt, about, text, isEdited, now }: RecordedMessage,
  writer: RecordedPerson,
): string {
  const sent = [escapeHtml(writer.name), time(sentAt)];
  if (isEdited === true) sent.push(recordNotes.edited);
  const quoted =
    about === undefined
      ? ''
      : `${note([recordNotes.about(escapeHtml(about.writer))])}<blockquote>${saidHtml(about.text)}</blockquote>\n`;
  const said = text === undefined ? note(['A button was pressed.']) : saidHtml(text);
  return note(sent) + quoted + said + (now === undefined ? '' : note([recordNotes.now]) + saidHtml(now));
}

/** A person's words, also where a notebook keeps no class or no style; nothing where there are none. */
function saidHtml(text: string): string {
  const said = escapeHtml(withoutSignedLinks(text)).replaceAll('\n', '<br>');
  return said === '' ? '' : `<p style="white-space: pre-wrap">${said}</p>\n`;
}

function* answerHtml(blocks: readonly ContentBlock[], checks: SourceChecks): Generator<string> {
  yield* markdownToHtml(answerText(blocks));
  const sources = sourcesOf(blocks).map((source) => sourceHtml(source, checks));
  if (sources.length > 0) yield `<h3>Sources</h3>\n<ul class="sources">${sources.join('\n')}</ul>\n`;
  if (Object.values(checks).some((check) => check?.by === 'pubmed'))
    yield note([`PubMed: ${ncbiDisclaimer.text}, ${linkTo(ncbiDisclaimer.url)}`]);
}

/** What the agent did for an answer, in such pieces. */
export function* stepsHtml({ answer }: Pick<RecordedTurn, 'answer'>): Generator<string> {
  const steps = typeof answer === 'string' ? [] : toolCalls(answer);
  if (steps.length === 0) return;
  yield `<details open><summary>Steps (${steps.length})</summary>\n<ol>\n`;
  for (const step of steps) yield stepHtml(step);
  yield '</ol></details>\n';
}

/** A source, with what a registry said of it, and when. Its number is text: eLabFTW keeps no other. */
function sourceHtml({ url, number, id }: Source, checks: SourceChecks): string {
  const check = id && checks[id];
  const shown = `${number}. ${linkTo(url)}`;
  if (check === undefined) return `<li>${shown}</li>`;
  const more = moreAbout(check);
  const said = [escapeHtml(sourceFinding(check)), ...(more ? [`${more.text}: ${linkTo(more.url)}`] : [])];
  return `<li>${shown}${note([...said, `checked ${time(new Date(check.checkedAt))}`])}</li>`;
}

function stepHtml(call: ToolCall): string {
  const { input, output = '' } = call;
  const shownOutput = output.length > MAX_STEP_CHARACTERS ? output : wholeValue(output);
  const title = escapeHtml(withoutSignedLinks(callTitle(call, 200)));
  return `<li class="step">${title}\n${verbatim('Input', inputText(input, wholeValue))}${verbatim('Output', shownOutput)}</li>\n`;
}

function verbatim(label: string, text: string): string {
  if (text === '') return '';
  const more = text.length - MAX_STEP_CHARACTERS;
  const cut = more > 0 ? `\n… (${more.toLocaleString('en')} more characters)` : '';
  const shown = escapeHtml(withoutSignedLinks(text.slice(0, MAX_STEP_CHARACTERS)) + cut);
  return `${note([label])}<pre tabindex="0">${shown}</pre>\n`;
}

/** What stands below the questions, in pieces that each take one slice to make. */
export function* reviewsHtml(reviews: readonly RecordedReview[], leftOut: number): Generator<string> {
  if (leftOut > 0) yield `<h2>Left out</h2>\n<p>${recordNotes.leftOut(leftOut)}</p>\n`;
  if (reviews.length > 0) yield '<h2>Reviews of the work</h2>\n';
  for (const { status, text } of reviews) {
    yield `<h3>Review: ${escapeHtml(status)}</h3>\n`;
    yield* markdownToHtml(text);
  }
}

export const PAGE_END = '</main></body></html>\n';

function filesHtml(heading: string, files: readonly RecordedFile[]): string {
  if (files.length === 0) return '';
  const rows = files.map(({ id, name, sizeBytes, sha256, place }) => {
    const digest = sha256 === null ? 'not known' : `<code>${sha256}</code>`;
    const where =
      'entry' in place ? `<code>${place.entry}</code>` : `not here: ${place.leftOut}; id ${escapeHtml(id)}`;
    return `<tr><td class="file">${escapeHtml(name)}</td><td class="size">${formatSize(sizeBytes)}</td><td>${where}</td><td>${digest}</td></tr>`;
  });
  return `<h3>${heading}</h3>
<table><thead><tr><th scope="col">File</th><th scope="col">Size</th><th scope="col">In this archive</th><th scope="col">SHA-256</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
`;
}

function note(parts: readonly string[]): string {
  return `<p class="note">${parts.join(' · ')}</p>\n`;
}

function linkTo(url: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
}

function time(at: Date): string {
  const iso = at.toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
