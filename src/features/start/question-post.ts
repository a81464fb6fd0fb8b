import { type ContextBlock, plainText } from '../../render/blocks/slack-blocks.ts';
import { truncateBytes } from '../../render/markdown/fallback-text.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

type QuotationInline = { type: 'text'; text: string } | { type: 'user'; user_id: string };

/** Who asks, and the question verbatim. */
interface QuotationBlock {
  type: 'rich_text';
  elements: { type: 'rich_text_section' | 'rich_text_quote'; elements: QuotationInline[] }[];
}

/** The post whose thread a task starts in. */
export interface QuestionPost {
  text: string;
  blocks: (QuotationBlock | ContextBlock)[];
}

const MAX_QUESTION_CHARACTERS = 6_000;
const MAX_QUOTE_CHARACTERS = 1_500;
const MAX_LABEL_CHARACTERS = 150;

/** The content of the post. */
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
}

/** A question from a form or a workflow, for everyone in the channel to see. */
export function questionPost(content: QuestionPostContent): QuestionPost {
  const { person, label, question, quote, choices, files } = content;
  const elements: QuotationBlock['elements'] = [];
  const asks = question === '' ? strings.asksAbout : strings.asks;
  const name = label === undefined ? '' : shorten(neutralizePings(label), MAX_LABEL_CHARACTERS);
  const prefix = name === '' || person === undefined ? name : `${name} ${strings.asksFor} `;
  elements.push({
    type: 'rich_text_section',
    elements: [
      ...(prefix === '' ? [] : [{ type: 'text' as const, text: prefix }]),
      ...(person === undefined ? [] : [{ type: 'user' as const, user_id: person }]),
      { type: 'text', text: ` ${asks}` },
    ],
  });
  for (const [text, most] of [
    [question, MAX_QUESTION_CHARACTERS],
    [quote ?? '', MAX_QUOTE_CHARACTERS],
  ] as const) {
    if (/\S/.test(text))
      elements.push({
        type: 'rich_text_quote',
        elements: [{ type: 'text', text: shorten(neutralizePings(text.trim()), most) }],
      });
  }
  const blocks: QuestionPost['blocks'] = [{ type: 'rich_text', elements }];
  const chosen = strings.chosenOptions(choices, files);
  if (chosen !== '')
    blocks.push({ type: 'context', elements: [plainText(shorten(neutralizePings(chosen), 900))] });
  const asker = label === undefined ? `<@${person}> ` : '';
  return {
    text: asker + truncateBytes(`${name} ${asks} ${question || (quote ?? '')}`.trim(), 3_500),
    blocks,
  };
}
