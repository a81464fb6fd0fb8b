import { cutBytes } from './fallback.ts';
import { shorten } from './graphemes.ts';
import { neutralise } from './pings.ts';
import { type ContextBlock, plainText } from './slack-blocks.ts';
import * as words from './words.ts';

type Inline = { type: 'text'; text: string } | { type: 'user'; user_id: string };

/** Who asks, and what, letter by letter. */
interface QuotationBlock {
  type: 'rich_text';
  elements: { type: 'rich_text_section' | 'rich_text_quote'; elements: Inline[] }[];
}

/** The post in a channel below which a task begins. */
export interface StartPost {
  text: string;
  blocks: (QuotationBlock | ContextBlock)[];
}

const QUESTION_MOST = 6_000;
const QUOTE_MOST = 1_500;

/** What the post says. */
export interface StartQuestion {
  /** Slack's id of who asks. */
  person: string;
  /** Untrusted; '' where only a message is passed on. */
  question: string;
  /** The message that it is about. */
  quote: string | undefined;
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' };
  files: readonly string[];
}

/** A question that somebody asked with a form, for everybody in the channel to see. */
export function startPost({ person, question, quote, choices, files }: StartQuestion): StartPost {
  const elements: QuotationBlock['elements'] = [];
  const asks = question === '' ? words.asksAbout : words.asks;
  elements.push({
    type: 'rich_text_section',
    elements: [
      { type: 'user', user_id: person },
      { type: 'text', text: ` ${asks}` },
    ],
  });
  for (const [text, most] of [
    [question, QUESTION_MOST],
    [quote ?? '', QUOTE_MOST],
  ] as const) {
    if (/\S/.test(text))
      elements.push({
        type: 'rich_text_quote',
        elements: [{ type: 'text', text: shorten(neutralise(text.trim()), most) }],
      });
  }
  const blocks: StartPost['blocks'] = [{ type: 'rich_text', elements }];
  const chosen = words.chosen(choices, files);
  if (chosen !== '')
    blocks.push({ type: 'context', elements: [plainText(shorten(neutralise(chosen), 900))] });
  return { text: `<@${person}> ${cutBytes(`${asks} ${question || (quote ?? '')}`, 3_500)}`, blocks };
}
