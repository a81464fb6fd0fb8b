import type { InputBlock, InputBlockElement, PlainTextOption } from '@slack/types';
import * as strings from '../strings/index.ts';
import { shorten } from '../text/graphemes.ts';
import { plainText } from './slack-blocks.ts';

/** An option; its text and description have at most 75 characters, its value 150. */
export interface FormOption extends PlainTextOption {
  value: string;
}

/** What an input says; people must fill it in unless it is optional. */
interface InputTexts {
  label: string;
  hint?: string | undefined;
  placeholder?: string;
  optional?: boolean;
}

/** An input whose block and element share an id. */
export function inputBlock(
  element: InputBlockElement & { action_id: string },
  { label, hint, optional = false }: InputTexts,
): InputBlock & { block_id: string } {
  return {
    type: 'input',
    block_id: element.action_id,
    label: plainText(label),
    ...(hint === undefined ? {} : { hint: plainText(hint) }),
    optional,
    element,
  };
}

/** A text of at most `maxLength` (up to 3,000) characters; it begins with `initial`, shortened to that. */
export function textInput(
  id: string,
  texts: InputTexts,
  {
    initial,
    maxLength,
    multiline = false,
  }: { initial?: string | null | undefined; maxLength: number; multiline?: boolean },
): InputBlock {
  const text = shorten(initial ?? '', maxLength);
  return inputBlock(
    {
      type: 'plain_text_input',
      action_id: id,
      max_length: maxLength,
      multiline,
      ...(texts.placeholder === undefined ? {} : { placeholder: plainText(texts.placeholder) }),
      ...(/\S/.test(text) ? { initial_value: text } : {}),
    },
    texts,
  );
}

/** A choice of one option, by default as a list: `chosen`, or the first. */
export function choiceInput(
  id: string,
  texts: InputTexts,
  options: FormOption[],
  chosen: string,
  type: 'static_select' | 'radio_buttons' = 'static_select',
): InputBlock {
  const initial = options.find(({ value }) => value === chosen) ?? options[0];
  const first = initial === undefined ? {} : { initial_option: initial };
  return inputBlock({ type, action_id: id, options, ...first }, texts);
}

/** Options of which any number is `ticked`. */
export function checkboxesInput(
  id: string,
  label: string,
  options: FormOption[],
  ticked: readonly string[],
): InputBlock {
  const initial = options.filter(({ value }) => ticked.includes(value));
  const first = initial.length === 0 ? {} : { initial_options: initial };
  return inputBlock({ type: 'checkboxes', action_id: id, options, ...first }, { label, optional: true });
}

/** An option, with or without a description. */
export function formOption(value: string, text: string, description?: string): FormOption {
  const option = { text: plainText(text), value };
  return description === undefined ? option : { ...option, description: plainText(description) };
}

/** The input for allowed bots and workflows; `set` is its value: ids between commas, "none", or ''. */
export function botsInput(id: string, set: string): InputBlock {
  const texts = { label: strings.botsLabel, hint: strings.botsHint, optional: true };
  return textInput(id, texts, { initial: set, maxLength: 1_000 });
}
