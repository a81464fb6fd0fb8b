import { type FormView, formOption, type InputBlock, inputBlock } from '../../render/blocks/form-inputs.ts';
import { createModal, noticeModal } from '../../render/blocks/modal.ts';
import { plainText, type SectionBlock, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

/** By which a sent form is told from others. */
export const START_CALLBACK = 'start';
/** Characters that a text input takes (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
export const MAX_QUESTION_CHARACTERS = 3_000;
const MAX_TITLE_CHARACTERS = 300;
const MAX_SKILL_CHARACTERS = 200;
/** Files that one input takes (https://docs.slack.dev/reference/block-kit/block-elements/file-input-element). */
const MAX_FORM_FILES = 10;
const MAX_QUOTE_CHARACTERS = 600;

const form = strings.startForm;

/** What a form shows, as it is opened or opened again. */
export interface StartFormContent {
  /** Opaque; comes back with what is sent. */
  metadata: string;
  /** Asks for a channel, with this one chosen at first; left out where the place is known. */
  channel?: { chosen: string | undefined };
  /** A sentence above all. */
  note?: string | undefined;
  /** The message that it is about. */
  quote?: string | undefined;
  /** What is asked; `long` where it has more characters than an input takes, and stays as it is. */
  question: { text: string; optional: boolean } | 'long';
  /** The task has begun: its title, model and the like are fixed. */
  isTaskStarted: boolean;
  chosen: {
    title?: string;
    model?: string;
    skill?: string;
    noFallback?: boolean;
    mode?: 'auto' | 'plan';
  };
  /** The names of files that go along already. */
  files: readonly string[];
  offers: { noFallback: boolean; autoMode: boolean; planMode: boolean };
}

/** The form by which a task is begun. Its inputs have the ids that `start-modal.ts` of `listen` reads. */
export function startView(form: StartFormContent): FormView {
  return {
    ...createModal(strings.startForm.heading, [...headerBlocks(form), ...inputBlocks(form)]),
    callback_id: START_CALLBACK,
    private_metadata: form.metadata,
    submit: plainText(strings.startForm.submit),
  };
}

/** A modal that only says something. */
export function startNoticeView(sentence: string): FormView {
  return noticeModal(form.heading, sentence);
}

function headerBlocks({ note, quote, files }: StartFormContent): FormView['blocks'] {
  const blocks: FormView['blocks'] = [];
  if (note !== undefined) blocks.push(textSection(note));
  if (quote !== undefined && /\S/.test(quote))
    blocks.push({
      type: 'context',
      elements: [
        plainText(neutralizePings(`${form.about} “${shorten(quote.trim(), MAX_QUOTE_CHARACTERS)}”`)),
      ],
    });
  if (files.length > 0)
    blocks.push({
      type: 'context',
      elements: [plainText(shorten(neutralizePings(form.filesAlong(files)), 900))],
    });
  return blocks;
}

function inputBlocks({
  channel,
  question,
  isTaskStarted: fixed,
  chosen,
  offers,
}: StartFormContent): FormView['blocks'] {
  const blocks: FormView['blocks'] = [];
  if (channel !== undefined) blocks.push(channelInput(channel.chosen));
  if (question === 'long') blocks.push(textSection(form.longQuestion));
  else blocks.push(questionInput(question));
  if (!fixed) blocks.push(titleInput(chosen.title), modelInput(chosen.model));
  blocks.push(skillInput(chosen.skill));
  const files = { type: 'file_input' as const, action_id: 'files', max_files: MAX_FORM_FILES };
  blocks.push(inputBlock(files, { label: form.files, optional: true }));
  if (fixed) return blocks;
  if (offers.noFallback) blocks.push(fallbackInput(chosen.noFallback === true));
  if (offers.autoMode || offers.planMode) blocks.push(modeInput(offers, chosen.mode));
  return blocks;
}

function channelInput(chosen: string | undefined): InputBlock {
  return inputBlock(
    {
      type: 'conversations_select',
      action_id: 'channel',
      ...(chosen === undefined ? {} : { initial_conversation: chosen }),
      filter: { include: ['public', 'private', 'mpim'] },
    },
    { label: form.channel, hint: form.channelHint, optional: false },
  );
}

function questionInput({ text, optional }: { text: string; optional: boolean }): InputBlock {
  const label = optional ? form.optionalQuestion : form.question;
  return inputBlock(
    { ...textInput('question', MAX_QUESTION_CHARACTERS, text), multiline: true },
    { label, optional },
  );
}

function titleInput(title: string | undefined): InputBlock {
  return inputBlock(textInput('title', MAX_TITLE_CHARACTERS, title), {
    label: form.title,
    hint: form.titleHint,
    optional: true,
  });
}

function skillInput(skill: string | undefined): InputBlock {
  return inputBlock(textInput('skill', MAX_SKILL_CHARACTERS, skill), {
    label: form.skill,
    hint: form.skillHint,
    optional: true,
  });
}

function textInput(id: string, most: number, text: string | undefined) {
  const initial = text === undefined || !/\S/.test(text) ? {} : { initial_value: shorten(text, most) };
  return { type: 'plain_text_input' as const, action_id: id, max_length: most, ...initial };
}

/** The model that is chosen; `usual` leaves the choice to the channel's settings and the service. */
function modelInput(model: string | undefined): InputBlock {
  const choices = Object.entries({ usual: form.defaultModel, ...strings.models });
  const options = choices.map(([name, [text, description]]) => formOption(name, text, description));
  return radioInput('model', options, model ?? 'usual', form.model);
}

function modeInput(offers: StartFormContent['offers'], mode: string | undefined): InputBlock {
  const options = [formOption('usual', form.defaultMode)];
  if (offers.autoMode) options.push(formOption('auto', form.autoMode, form.autoModeHint));
  if (offers.planMode) options.push(formOption('plan', form.planMode, form.planModeHint));
  return radioInput('mode', options, mode ?? 'usual', form.mode);
}

function radioInput(
  id: string,
  options: ReturnType<typeof formOption>[],
  chosen: string,
  label: string,
): InputBlock {
  const initial = options.find(({ value }) => value === chosen) ?? options[0];
  return inputBlock(
    {
      type: 'radio_buttons',
      action_id: id,
      options,
      ...(initial === undefined ? {} : { initial_option: initial }),
    },
    { label, optional: true },
  );
}

function fallbackInput(chosen: boolean): InputBlock {
  const options = [formOption('no_fallback', form.noFallback, form.noFallbackHint)];
  return inputBlock(
    {
      type: 'checkboxes',
      action_id: 'fallback',
      options,
      ...(chosen ? { initial_options: options } : {}),
    },
    { label: form.fallback, optional: true },
  );
}

function textSection(sentence: string): SectionBlock {
  return sectionBlock(shorten(neutralizePings(sentence), 2_900));
}
