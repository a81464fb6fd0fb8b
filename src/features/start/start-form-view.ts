import { z } from 'zod';
import { parseJson } from '../../calls/json.ts';
import type { OfferedPrompt } from '../../relay/runtime/deps.ts';
import {
  checkboxesInput,
  choiceInput,
  formModal,
  formOption,
  inputBlock,
  type Modal,
  textInput,
  type ViewBlock,
} from '../../render/blocks/modal.ts';
import { contextLineBlock, mrkdwnContextBlock, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import type { TaskChoices } from '../../store/schema.ts';
import type { SignedText } from '../../store/workspaces/settings-store.ts';

export const START_CALLBACK = 'start';
const MAX_TITLE_CHARACTERS = 300;
const MAX_SKILL_CHARACTERS = 200;
/** Most characters of an option (https://docs.slack.dev/reference/block-kit/composition-objects/option-object). */
const MAX_OPTION_CHARACTERS = 75;
/** Most options of a list (https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element). */
const MAX_OPTIONS = 100;
/** Most files in a file input (https://docs.slack.dev/reference/block-kit/block-elements/file-input-element). */
const MAX_FORM_FILES = 10;
const MAX_QUOTE_CHARACTERS = 600;

const form = strings.startForm;

export interface StartFormContent {
  metadata: StartFormMetadata;
  /** Asks for a channel, with this one chosen; left out if the channel is fixed. */
  channel?: { chosen: string | undefined };
  note?: string | undefined;
  /** The channel's standing instructions, which the task begins with. */
  instructions?: (SignedText & { channel: string }) | undefined;
  quote?: string | undefined;
  /** The question; `long` if it is longer than an input, and so cannot be edited. */
  question: { text: string; optional: boolean } | 'long';
  /** A task that has started keeps its title, model, fallback and mode. */
  isTaskStarted: boolean;
  chosen: { readonly [Choice in keyof TaskChoices]?: TaskChoices[Choice] | undefined };
  /** The names of the files that are sent already. */
  files: readonly string[];
  offers: { noFallback: boolean; autoMode: boolean; planMode: boolean };
  /** Skills to choose from: those that were used before. */
  usedSkills: readonly string[];
  prompts: readonly OfferedPrompt[];
}

const metadataSchema = z.looseObject({
  id: z.uuid(),
  /** The channel, if the form does not ask for it. */
  channel: z.string().optional(),
  /** The channel that the form was opened in, if it may ask for another. */
  from: z.string().optional(),
  /** More of the form is kept in our tables, such as the message that it is about. */
  drafted: z.boolean().optional(),
});
export type StartFormMetadata = Readonly<z.output<typeof metadataSchema>>;

/** Reads the form's metadata. Throws a ZodError for anything else. */
export function parseStartFormMetadata(metadata: string): StartFormMetadata {
  return metadataSchema.parse(parseJson(metadata));
}

/** The form that starts a task. */
export function startFormView(form: StartFormContent): Modal {
  const blocks = [...headerBlocks(form), ...inputBlocks(form), ...instructionBlocks(form)];
  return formModal(strings.startForm.heading, blocks, {
    callback: START_CALLBACK,
    metadata: JSON.stringify(form.metadata),
    submit: strings.startForm.submit,
  });
}

function headerBlocks({ note, quote, files }: StartFormContent): ViewBlock[] {
  const blocks: ViewBlock[] = [];
  if (note !== undefined) blocks.push(textSection(note));
  if (quote !== undefined && /\S/.test(quote))
    blocks.push(contextLineBlock(`${form.about} “${shorten(quote.trim(), MAX_QUOTE_CHARACTERS)}”`));
  if (files.length > 0) blocks.push(contextLineBlock(shorten(form.filesAlong(files), 900)));
  return blocks;
}

/** Last, because they may be longer than the form. */
function instructionBlocks({ instructions }: StartFormContent): ViewBlock[] {
  if (instructions === undefined) return [];
  const { channel, text, set_by, set_at } = instructions;
  return [mrkdwnContextBlock(strings.instructionsSetBy(channel, set_by, set_at)), textSection(text)];
}

function inputBlocks({
  channel,
  question,
  isTaskStarted,
  chosen,
  offers,
  usedSkills,
  prompts,
  instructions,
}: StartFormContent): ViewBlock[] {
  const blocks: ViewBlock[] = [];
  if (channel !== undefined) blocks.push(channelInput(channel.chosen));
  if (prompts.length > 0) blocks.push(promptInput(prompts));
  if (question === 'long') blocks.push(textSection(form.longQuestion));
  else blocks.push(questionInput(question, prompts.length > 0));
  const title = { label: form.title, hint: form.titleHint, optional: true };
  const typedTitle = { initial: chosen.title, maxLength: MAX_TITLE_CHARACTERS };
  if (!isTaskStarted) blocks.push(textInput('title', title, typedTitle), modelInput(chosen.model));
  const skills = usedSkills.filter((skill) => skill.length <= MAX_OPTION_CHARACTERS);
  const options = skills.map((skill) => formOption(skill, skill));
  const usedSkill = { label: form.usedSkill, optional: true };
  if (skills.length > 0) blocks.push(choiceInput('used_skill', usedSkill, options));
  const left = instructions === undefined ? '' : form.skillWithoutInstructions;
  const skill = { label: form.skill, hint: `${form.skillHint} ${left}`.trim(), optional: true };
  blocks.push(textInput('skill', skill, { initial: chosen.skill, maxLength: MAX_SKILL_CHARACTERS }));
  const filesInput = { type: 'file_input' as const, action_id: 'files', max_files: MAX_FORM_FILES };
  blocks.push(inputBlock(filesInput, { label: form.files, hint: form.filesHint, optional: true }));
  if (isTaskStarted) return blocks;
  const fallback = formOption('no_fallback', form.noFallback, form.noFallbackHint);
  const ticked = chosen.noFallback === true ? ['no_fallback'] : [];
  if (offers.noFallback) blocks.push(checkboxesInput('fallback', form.fallback, [fallback], ticked));
  if (offers.autoMode || offers.planMode) blocks.push(modeInput(offers, chosen.mode));
  return blocks;
}

function channelInput(chosen: string | undefined): ViewBlock {
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

function promptInput(prompts: readonly OfferedPrompt[]): ViewBlock {
  const options = prompts.slice(0, MAX_OPTIONS).map(({ title, line }) => formOption(title, title, line));
  return choiceInput('prompt', { label: form.prompt, hint: form.promptHint, optional: true }, options);
}

/** A prompt may take the place of the words. */
function questionInput(
  { text, optional }: { text: string; optional: boolean },
  hasPrompts: boolean,
): ViewBlock {
  const label = optional ? form.optionalQuestion : form.question;
  const field = { initial: text, multiline: true };
  return textInput('question', { label, optional: optional || hasPrompts }, field);
}

/** `usual` leaves the model to the channel's settings and the service. */
function modelInput(model = 'usual'): ViewBlock {
  const choices = Object.entries({ usual: form.defaultModel, ...strings.models });
  const options = choices.map(([name, [text, description]]) => formOption(name, text, description));
  return choiceInput('model', { label: form.model, optional: true }, options, model, 'radio_buttons');
}

function modeInput(offers: StartFormContent['offers'], mode = 'usual'): ViewBlock {
  const options = [formOption('usual', form.defaultMode)];
  if (offers.autoMode) options.push(formOption('auto', form.autoMode, form.autoModeHint));
  if (offers.planMode) options.push(formOption('plan', form.planMode, form.planModeHint));
  return choiceInput('mode', { label: form.mode, optional: true }, options, mode, 'radio_buttons');
}

function textSection(sentence: string): ViewBlock {
  return sectionBlock(shorten(neutralizePings(sentence), 2_900));
}
