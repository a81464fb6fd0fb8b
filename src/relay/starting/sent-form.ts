import type { Choices, Words } from '../../store/tables.ts';
import { filesIn } from '../files/attachments.ts';
import { type OfferedFlags, readFlags, titleLine } from '../reading/flags.ts';

/** What a person filled into the form; what was not shown or left empty is undefined. */
export interface FormValues {
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
 * What is asked: the words of the form, or those of the message that is asked again where they had no room in it. Flags
 * count in the form's text too, and what was chosen in its fields goes before them.
 */
export function wordsOf(values: FormValues, source: Words | null, offered: OfferedFlags): Words {
  const typed = readFlags(values.question ?? '', offered);
  const shown = values.question !== undefined || source === null || source.about !== undefined;
  const files = filesIn({ text: '', files: [...(source?.files ?? []), ...values.files] });
  const own = shown ? verbatim(typed.text) : (source ?? { text: '' });
  const about = source?.about;
  return {
    text: own.text,
    ...(own.blocks === undefined ? {} : { blocks: own.blocks }),
    ...(own.attachments === undefined ? {} : { attachments: own.attachments }),
    ...(files.length === 0 ? {} : { files }),
    ...(about === undefined ? {} : { about }),
    choices: { ...typed.choices, ...chosen(values) },
  };
}

function chosen({ title, model, skill, noFallback, mode }: FormValues): Choices {
  return {
    ...(title === undefined || titleLine(title) === '' ? {} : { title: titleLine(title) }),
    ...(model === undefined ? {} : { model }),
    ...(skill === undefined || titleLine(skill) === '' ? {} : { skill: titleLine(skill) }),
    ...(noFallback ? { noFallback } : {}),
    ...(mode === undefined ? {} : { mode }),
  };
}

/** Text as it was typed: in Slack's own text, some characters would mean something. */
function verbatim(text: string): Words {
  if (text === '') return { text };
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }];
  return { text: escaped(text), blocks: [{ type: 'rich_text', elements }] };
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
