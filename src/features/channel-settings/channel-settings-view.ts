import {
  botsInput,
  type FormOption,
  type FormView,
  formOption,
  type InputBlock,
  inputBlock,
} from '../../render/blocks/form-inputs.ts';
import { noticeModal } from '../../render/blocks/modal.ts';
import { plainText, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

/** Names the form, so that what is sent comes back to who reads it. */
export const CHANNEL_SETTINGS_CALLBACK = 'channel_settings';

/** The settings that the form shows; null: as for the whole app. */
export interface ChannelSettingsFields {
  model: string | null;
  listens: string;
  admits: string | null;
  /** As people type them: '' as for the workspace, ids between commas, or the word none. */
  bots: string;
  controls: string | null;
  show_steps: boolean;
  follows_name: boolean;
}

/** What the form is filled with. */
export interface ChannelSettingsFormContent {
  /** What comes back with the form; 3,000 characters at most. */
  metadata: string;
  settings: ChannelSettingsFields;
  /** A channel between the bot and one person: nobody else listens, uses or controls there. */
  isDirect: boolean;
  /** The channel's project; its texts are undefined where the service does not tell them. */
  project: { id: string; title?: string | undefined; description?: string | undefined } | undefined;
}

/** Characters that a field takes at most (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
const MAX_FIELD_CHARACTERS = 3_000;
const MAX_TITLE_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 200;

const labels = strings.channelSettings;

/** The form with a channel's settings. */
export function channelSettingsView(form: ChannelSettingsFormContent): FormView {
  const { settings, project } = form;
  const about = project === undefined ? labels.noProject : strings.projectOfChannel(project.id);
  return {
    type: 'modal',
    callback_id: CHANNEL_SETTINGS_CALLBACK,
    private_metadata: form.metadata,
    title: plainText(labels.title),
    submit: plainText(labels.save),
    close: plainText(labels.cancel),
    blocks: [
      sectionBlock(about),
      ...(project === undefined ? [] : projectFields(project)),
      inputBlock(
        { type: 'plain_text_input', action_id: 'channel_project', max_length: MAX_ID_CHARACTERS },
        { label: labels.useProject, hint: labels.useProjectHint, optional: true },
      ),
      choiceInput('model', settings.model ?? 'usual'),
      ...(form.isDirect
        ? []
        : [
            choiceInput('listens', settings.listens, 'radio_buttons'),
            choiceInput('admits', settings.admits ?? 'usual'),
            botsInput('channel_bots', settings.bots),
            choiceInput('controls', settings.controls ?? 'usual'),
          ]),
      checkboxesInput(settings, form.isDirect),
    ],
  };
}

/** The modal until the settings are there, or where they are not shown. */
export function channelSettingsNoticeView(sentence: string): FormView {
  return noticeModal(labels.title, sentence);
}

/** A text as its field shows it. */
export function asFieldText(text: string): string {
  return shorten(text, MAX_FIELD_CHARACTERS);
}

function projectFields(project: NonNullable<ChannelSettingsFormContent['project']>): InputBlock[] {
  const { title, description } = project;
  const unread = title === undefined;
  const kept = unread ? labels.unreadHint : undefined;
  return [
    inputBlock(
      {
        type: 'plain_text_input',
        action_id: 'channel_title',
        max_length: MAX_TITLE_CHARACTERS,
        ...initialValue(title === undefined ? undefined : shorten(title, MAX_TITLE_CHARACTERS)),
      },
      { label: labels.projectTitle, hint: kept, optional: unread },
    ),
    inputBlock(
      {
        type: 'plain_text_input',
        action_id: 'channel_description',
        multiline: true,
        max_length: MAX_FIELD_CHARACTERS,
        ...initialValue(description === undefined ? undefined : asFieldText(description)),
      },
      { label: labels.description, hint: kept ?? labels.descriptionHint, optional: true },
    ),
  ];
}

function initialValue(value: string | undefined): { initial_value?: string } {
  return value === undefined || value === '' ? {} : { initial_value: value };
}

type ChoiceField = 'model' | 'listens' | 'admits' | 'controls';

function choiceInput(
  id: ChoiceField,
  chosen: string,
  type: 'static_select' | 'radio_buttons' = 'static_select',
): InputBlock {
  const options = optionsOf(id);
  const now = options.find(({ value }) => value === chosen) ?? options[0];
  const first = now === undefined ? {} : { initial_option: now };
  return inputBlock(
    { type, action_id: `channel_${id}`, options, ...first },
    { label: labels[id], optional: false },
  );
}

function checkboxesInput(settings: ChannelSettingsFields, direct: boolean): InputBlock {
  const options = optionsOf('more').filter(({ value }) => !(direct && value === 'follows_name'));
  const ticked = options.filter(({ value }) =>
    value === 'show_steps' ? settings.show_steps : settings.follows_name,
  );
  const first = ticked.length === 0 ? {} : { initial_options: ticked };
  return inputBlock(
    { type: 'checkboxes', action_id: 'channel_more', options, ...first },
    { label: labels.more, optional: true },
  );
}

function optionsOf(id: ChoiceField | 'more'): FormOption[] {
  return Object.entries(strings.channelChoices[id]).map(([value, [text, description]]) =>
    formOption(value, text, description),
  );
}
