import { shorten } from '../graphemes.ts';
import { neutralise } from '../pings.ts';
import { plainText, type SectionBlock, section } from '../slack-blocks.ts';
import * as words from '../words.ts';
import { type FormView, type InputBlock, input, option } from './inputs.ts';
import { modal, notice } from './modal.ts';

/** By which a sent form is told from others. */
export const START_CALLBACK = 'start';
/** Characters that a text input takes (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
export const QUESTION_MOST = 3_000;
const TITLE_MOST = 300;
const SKILL_MOST = 200;
/** Files that one input takes (https://docs.slack.dev/reference/block-kit/block-elements/file-input-element). */
const FILES_MOST = 10;
const QUOTE_MOST = 600;

const { form } = words;

/** What a form shows, as it is opened or opened again. */
export interface StartForm {
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
  fixed: boolean;
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
export function startView(form: StartForm): FormView {
  return {
    ...modal(words.form.heading, [...above(form), ...inputs(form)]),
    callback_id: START_CALLBACK,
    private_metadata: form.metadata,
    submit: plainText(words.form.submit),
  };
}

/** A modal that only says something. */
export function startNotice(sentence: string): FormView {
  return notice(form.heading, sentence);
}

function above({ note, quote, files }: StartForm): FormView['blocks'] {
  const blocks: FormView['blocks'] = [];
  if (note !== undefined) blocks.push(said(note));
  if (quote !== undefined && /\S/.test(quote))
    blocks.push({
      type: 'context',
      elements: [plainText(neutralise(`${form.about} “${shorten(quote.trim(), QUOTE_MOST)}”`))],
    });
  if (files.length > 0)
    blocks.push({ type: 'context', elements: [plainText(shorten(neutralise(form.filesAlong(files)), 900))] });
  return blocks;
}

function inputs({ channel, question, fixed, chosen, offers }: StartForm): FormView['blocks'] {
  const blocks: FormView['blocks'] = [];
  if (channel !== undefined) blocks.push(channelInput(channel.chosen));
  if (question === 'long') blocks.push(said(form.longQuestion));
  else blocks.push(questionInput(question));
  if (!fixed) blocks.push(titleInput(chosen.title), modelInput(chosen.model));
  blocks.push(skillInput(chosen.skill));
  const files = { type: 'file_input' as const, action_id: 'files', max_files: FILES_MOST };
  blocks.push(input(files, { label: form.files, optional: true }));
  if (fixed) return blocks;
  if (offers.noFallback) blocks.push(fallbackInput(chosen.noFallback === true));
  if (offers.autoMode || offers.planMode) blocks.push(modeInput(offers, chosen.mode));
  return blocks;
}

function channelInput(chosen: string | undefined): InputBlock {
  return input(
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
  return input({ ...textInput('question', QUESTION_MOST, text), multiline: true }, { label, optional });
}

function titleInput(title: string | undefined): InputBlock {
  return input(textInput('title', TITLE_MOST, title), {
    label: form.title,
    hint: form.titleHint,
    optional: true,
  });
}

function skillInput(skill: string | undefined): InputBlock {
  return input(textInput('skill', SKILL_MOST, skill), {
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
  const choices = Object.entries({ usual: form.usualModel, ...words.models });
  const options = choices.map(([name, [text, description]]) => option(name, text, description));
  return radio('model', options, model ?? 'usual', form.model);
}

function modeInput(offers: StartForm['offers'], mode: string | undefined): InputBlock {
  const options = [option('usual', form.usualMode)];
  if (offers.autoMode) options.push(option('auto', form.autoMode, form.autoModeHint));
  if (offers.planMode) options.push(option('plan', form.planMode, form.planModeHint));
  return radio('mode', options, mode ?? 'usual', form.mode);
}

function radio(id: string, options: ReturnType<typeof option>[], chosen: string, label: string): InputBlock {
  const initial = options.find(({ value }) => value === chosen) ?? options[0];
  return input(
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
  const options = [option('no_fallback', form.noFallback, form.noFallbackHint)];
  return input(
    {
      type: 'checkboxes',
      action_id: 'fallback',
      options,
      ...(chosen ? { initial_options: options } : {}),
    },
    { label: form.fallback, optional: true },
  );
}

function said(sentence: string): SectionBlock {
  return section(shorten(neutralise(sentence), 2_900));
}
