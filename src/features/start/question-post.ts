import { z } from 'zod';
import { verbatimBlock } from '../../relay/reading/rich-text-parser.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import { contextLineBlock, mrkdwnContextBlock } from '../../render/blocks/slack-blocks.ts';
import { truncateBytes } from '../../render/markdown/fallback-text.ts';
import { neutralizePings, restorePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/shorten.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { MessageContent } from '../../store/schema.ts';

const MAX_QUESTION_CHARACTERS = 6_000;
const MAX_QUOTE_CHARACTERS = 1_500;
const MAX_LABEL_CHARACTERS = 150;

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
  /** Where the same question was asked first. */
  firstLink?: string | undefined;
}

/** The post whose thread a task starts in: a question from a form or a workflow, verbatim, for everyone to see. */
export function questionPost(content: QuestionPostContent) {
  const { person, label, question, quote = '', choices, files, firstLink } = content;
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
  ].filter(({ text }) => /\S/.test(text));
  const blocks: ViewBlock[] = [
    {
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: asker },
        ...quotations.map(({ text, most }) => quotation(shorten(neutralizePings(text.trim()), most))),
      ],
    },
  ];
  if (firstLink !== undefined) blocks.push(mrkdwnContextBlock(strings.askedFirst(firstLink)));
  const chosen = strings.chosenOptions(choices, files);
  if (chosen !== '') blocks.push(contextLineBlock(shorten(chosen, 900)));
  const who = label === undefined ? `<@${person}> ` : '';
  return { text: who + truncateBytes(`${name} ${asks} ${question || quote}`.trim(), 3_500), blocks };
}

function quotation(text: string) {
  return { type: 'rich_text_quote' as const, elements: [{ type: 'text' as const, text }] };
}

const quotationSchema = z.looseObject({
  type: z.literal('rich_text_quote'),
  elements: z.tuple([z.looseObject({ text: z.string() })]),
});
const postedSchema = z.looseObject({
  type: z.literal('rich_text'),
  elements: z.tuple(
    [z.looseObject({ elements: z.array(z.looseObject({ text: z.string().optional() })).min(1) })],
    quotationSchema,
  ),
});

/** What a post of `questionPost` asks; undefined for any other post, or where it does not show the whole question. */
export function postedQuestion({ blocks = [] }: Pick<ThreadMessage, 'blocks'>): MessageContent | undefined {
  const [post] = blocks.flatMap((block) => postedSchema.safeParse(block).data ?? []);
  if (post === undefined) return undefined;
  const [{ elements: asker }, ...quotations] = post.elements;
  const words = quotations.map(({ elements: [{ text }] }) => restorePings(text));
  const isAbout = asker.at(-1)?.text?.trim() === strings.asksAbout;
  const [question = '', quote] = isAbout ? ['', ...words] : words;
  if (question.length >= MAX_QUESTION_CHARACTERS || question + (quote ?? '') === '') return undefined;
  return {
    ...verbatimContent(question),
    ...(quote !== undefined && { about: { ...verbatimContent(quote) } }),
  };
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
