import type { ViewBlock } from '../../render/blocks/modal.ts';
import { contextLineBlock } from '../../render/blocks/slack-blocks.ts';
import { truncateBytes } from '../../render/markdown/fallback-text.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

const MAX_QUESTION_CHARACTERS = 6_000;
const MAX_QUOTE_CHARACTERS = 1_500;

export interface QuestionPostContent {
  /** Slack's id of who asks. */
  person: string;
  /** Untrusted; '' if the person only passes a message on. */
  question: string;
  /** The message that the question is about. */
  quote: string | undefined;
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' };
  files: readonly string[];
}

/** The post whose thread a task starts in: a question from a form, verbatim, for everyone in the channel to see. */
export function questionPost({ person, question, quote = '', choices, files }: QuestionPostContent) {
  const asks = question === '' ? strings.asksAbout : strings.asks;
  const asker = [
    { type: 'user', user_id: person },
    { type: 'text', text: ` ${asks}` },
  ] as const;
  const quotations = [
    { text: question, most: MAX_QUESTION_CHARACTERS },
    { text: quote, most: MAX_QUOTE_CHARACTERS },
  ].filter(({ text }) => /\S/.test(text));
  const blocks: ViewBlock[] = [
    {
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: [...asker] },
        ...quotations.map(({ text, most }) => quotation(shorten(neutralizePings(text.trim()), most))),
      ],
    },
  ];
  const chosen = strings.chosenOptions(choices, files);
  if (chosen !== '') blocks.push(contextLineBlock(shorten(chosen, 900)));
  return { text: `<@${person}> ${truncateBytes(`${asks} ${question || quote}`, 3_500)}`, blocks };
}

function quotation(text: string) {
  return { type: 'rich_text_quote' as const, elements: [{ type: 'text' as const, text }] };
}
