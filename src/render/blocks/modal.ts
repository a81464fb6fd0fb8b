import type * as types from '@slack/types';
import * as strings from '../strings/index.ts';
import { shorten } from '../text-format.ts';
import { plainText, sectionBlock } from './slack-blocks.ts';

/** A block of a modal or of App Home; a heading has at most 150 characters. */
export type ViewBlock = types.KnownBlock;

/**
 * A modal (https://docs.slack.dev/reference/views/modal-views): 100 blocks; its title and buttons have at most 24
 * characters, its metadata 3,000.
 */
export interface Modal extends types.ModalView {
  close: types.PlainTextElement;
  blocks: ViewBlock[];
}

/** A modal with a Close button. */
export function createModal(title: string, blocks: ViewBlock[]): Modal {
  return { type: 'modal', title: plainText(title), close: plainText(strings.labels.close), blocks };
}

/** A form; `metadata` comes back when it is sent. */
export function formModal(
  title: string,
  blocks: ViewBlock[],
  { callback, submit, metadata = '' }: { callback: string; submit: string; metadata?: string },
): Modal {
  return {
    ...createModal(title, blocks),
    callback_id: callback,
    private_metadata: metadata,
    submit: plainText(submit),
    close: plainText(strings.labels.cancel),
  };
}

/** A modal with one sentence, while its content loads or instead of it. */
export function noticeModal(title: string, sentence: string): Modal {
  return createModal(title, [sectionBlock(sentence)]);
}

/** An option; its text and description have at most 75 characters, its value 150. */
export interface FormOption extends types.PlainTextOption {
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
  element: types.InputBlockElement & { action_id: string },
  { label, hint, optional = false }: InputTexts,
): types.InputBlock & { block_id: string } {
  return {
    type: 'input',
    block_id: element.action_id,
    label: plainText(label),
    ...(hint === undefined ? {} : { hint: plainText(hint) }),
    optional,
    element,
  };
}

/** Most characters in an input (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
export const MAX_INPUT_CHARACTERS = 3_000;

/** A text of at most `maxLength` characters; it begins with `initial`, shortened to that. */
export function textInput(
  id: string,
  texts: InputTexts,
  {
    initial,
    maxLength = MAX_INPUT_CHARACTERS,
    multiline = false,
  }: { initial?: string | null | undefined; maxLength?: number; multiline?: boolean | undefined },
): types.InputBlock {
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

/** A choice of one option, by default as a list: `chosen`, or the first; none yet if `chosen` is left out. */
export function choiceInput(
  id: string,
  texts: InputTexts,
  options: FormOption[],
  chosen?: string,
  type: 'static_select' | 'radio_buttons' = 'static_select',
): types.InputBlock {
  const found = options.find(({ value }) => value === chosen) ?? options[0];
  const initial = chosen === undefined || found === undefined ? {} : { initial_option: found };
  return inputBlock({ type, action_id: id, options, ...initial }, texts);
}

/** Public and private channels of which any number is chosen. */
export function channelsInput(id: string, texts: InputTexts, chosen: string[]): types.InputBlock {
  const filter = { include: ['public' as const, 'private' as const], exclude_bot_users: true };
  const initial = chosen.length === 0 ? {} : { initial_conversations: chosen };
  return inputBlock({ type: 'multi_conversations_select', action_id: id, filter, ...initial }, texts);
}

/** Options of which any number is `ticked`. */
export function checkboxesInput(
  id: string,
  label: string,
  options: FormOption[],
  ticked: readonly string[],
): types.InputBlock {
  const initial = options.filter(({ value }) => ticked.includes(value));
  const first = initial.length === 0 ? {} : { initial_options: initial };
  return inputBlock({ type: 'checkboxes', action_id: id, options, ...first }, { label, optional: true });
}

/** An option, with or without a description. */
export function formOption(value: string, text: string, description?: string): FormOption {
  const option = { text: plainText(text), value };
  return description === undefined ? option : { ...option, description: plainText(description) };
}
