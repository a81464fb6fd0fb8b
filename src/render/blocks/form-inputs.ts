import type * as types from '@slack/types';
import type { InputBlockElement, PlainTextOption } from '@slack/types';
import * as strings from '../strings/index.ts';
import type { Modal } from './modal.ts';
import { type ContextBlock, type PlainText, plainText, type SectionBlock } from './slack-blocks.ts';

/** An option; its text and description have at most 75 characters, its value 150. */
export interface FormOption extends PlainTextOption {
  value: string;
}

/** An element that people fill in; a text has at most 3,000 characters. */
export type FormElement = InputBlockElement & { action_id: string };

/** One labelled input of a form. */
export interface InputBlock extends types.InputBlock {
  block_id: string;
  element: FormElement;
}

/** A modal with inputs; `submit` has at most 24 characters, `private_metadata` 3,000. */
export interface FormView extends Modal<SectionBlock | ContextBlock | InputBlock> {
  callback_id?: string;
  private_metadata?: string;
  submit?: PlainText;
}

/** An input whose block and element share an id. */
export function inputBlock(
  element: FormElement,
  texts: { label: string; hint?: string | undefined; optional: boolean },
): InputBlock {
  return {
    type: 'input',
    block_id: element.action_id,
    label: plainText(texts.label),
    ...(texts.hint === undefined ? {} : { hint: plainText(texts.hint) }),
    optional: texts.optional,
    element,
  };
}

/** An option, with or without a description. */
export function formOption(value: string, text: string, description?: string): FormOption {
  const option = { text: plainText(text), value };
  return description === undefined ? option : { ...option, description: plainText(description) };
}

/** The input for allowed bots and workflows; `set` is its value: ids between commas, "none", or ''. */
export function botsInput(id: string, set: string): InputBlock {
  return inputBlock(
    {
      type: 'plain_text_input',
      action_id: id,
      max_length: 1_000,
      ...(set === '' ? {} : { initial_value: set }),
    },
    { label: strings.botsLabel, hint: strings.botsHint, optional: true },
  );
}
