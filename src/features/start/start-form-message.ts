import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { parseFlags } from '../../relay/reading/message-flags.ts';
import { filesOf } from '../../relay/reading/message-parser.ts';
import { toSingleLine } from '../../relay/reading/readable-text.ts';
import { parseTable } from '../../relay/reading/table-parser.ts';
import type { MessageContent, TaskChoices } from '../../store/schema.ts';

/** The values of the form; undefined for fields that it did not have or that were left empty. */
export interface StartFormValues {
  channel: string | undefined;
  question: string | undefined;
  title: string | undefined;
  model: string | undefined;
  skill: string | undefined;
  noFallback: boolean;
  mode: 'auto' | 'plan' | undefined;
  /** Slack's file objects. */
  files: readonly unknown[];
}

/**
 * The message of a form: its question with the tables and attachments of the one that it asks again, or that one itself where
 * it was too long to edit. Its fields win over flags.
 */
export function messageOfForm(
  values: StartFormValues,
  source: MessageContent | null,
  supportedFlags: SupportedTaskOptions,
): MessageContent {
  const typed = parseFlags(values.question ?? '', supportedFlags);
  const isQuestionShown = values.question !== undefined || source === null || source.about !== undefined;
  const files = filesOf({ files: [...(source?.files ?? []), ...values.files] });
  const { text, blocks } = isQuestionShown ? verbatimContent(typed.text) : (source ?? { text: '' });
  const tables = source?.blocks?.filter((block) => parseTable(block) !== undefined) ?? [];
  const allBlocks = isQuestionShown ? [...(blocks ?? []), ...tables] : (blocks ?? []);
  const { about, attachments } = source ?? {};
  return {
    text,
    ...(allBlocks.length === 0 ? {} : { blocks: allBlocks }),
    ...(attachments === undefined ? {} : { attachments }),
    ...(files.length === 0 ? {} : { files }),
    ...(about === undefined ? {} : { about }),
    choices: { ...typed.choices, ...choicesOf(values) },
  };
}

function choicesOf({ title, model, skill, noFallback, mode }: StartFormValues): TaskChoices {
  return {
    ...(title === undefined || toSingleLine(title) === '' ? {} : { title: toSingleLine(title) }),
    ...(model === undefined ? {} : { model }),
    ...(skill === undefined || toSingleLine(skill) === '' ? {} : { skill: toSingleLine(skill) }),
    ...(noFallback ? { noFallback } : {}),
    ...(mode === undefined ? {} : { mode }),
  };
}

/** Text exactly as typed: escaped, and as a block, so that Slack's markup has no effect. */
function verbatimContent(text: string): MessageContent {
  if (text === '') return { text };
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }];
  return { text: escapeMrkdwnText(text), blocks: [{ type: 'rich_text', elements }] };
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escapeMrkdwnText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
