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
import type { ChannelSettings } from '../../store/projects/channel-settings-store.ts';

/** The form's callback id. */
export const CHANNEL_SETTINGS_CALLBACK = 'channel_settings';

/** The settings that the form shows; null means the app's own setting. */
export interface ChannelSettingsFields extends Omit<ChannelSettings, 'allowed_bots'> {
  /** As people type them: ids separated by commas, the word none, or '' for the workspace's setting. */
  allowed_bots: string;
}

/** The content of the form. */
export interface ChannelSettingsFormContent {
  /** At most 3,000 characters. */
  metadata: string;
  settings: ChannelSettingsFields;
  /** A direct conversation has no fields for who may use and control the agent. */
  isDirect: boolean;
  /** The channel's project; its texts are undefined if the service does not give them. */
  project: { id: string; title?: string | undefined; description?: string | undefined } | undefined;
}

/** Most characters in a field (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
const MAX_FIELD_CHARACTERS = 3_000;
const MAX_TITLE_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 200;

const labels = strings.channelSettings;

/** The form with a channel's settings. */
export function channelSettingsView(form: ChannelSettingsFormContent): FormView {
  const { settings, project } = form;
  const about = project === undefined ? labels.noProject : strings.projectOfChannel(project);
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
            choiceInput('listens', settings.listen_mode ?? 'usual', 'radio_buttons'),
            choiceInput('admits', settings.allowed_users ?? 'usual'),
            botsInput('channel_bots', settings.allowed_bots),
            choiceInput('controls', settings.task_control ?? 'usual'),
          ]),
      checkboxesInput(settings, form.isDirect),
    ],
  };
}

/** The modal with one sentence: while the settings load, or in place of them. */
export function channelSettingsNoticeView(sentence: string): FormView {
  return noticeModal(labels.title, sentence);
}

/** A text, shortened to what its field shows. */
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
  const current = options.find(({ value }) => value === chosen) ?? options[0];
  const first = current === undefined ? {} : { initial_option: current };
  return inputBlock(
    { type, action_id: `channel_${id}`, options, ...first },
    { label: labels[id], optional: false },
  );
}

function checkboxesInput(settings: ChannelSettingsFields, isDirect: boolean): InputBlock {
  const isTicked: Record<string, boolean> = {
    show_steps: settings.show_steps,
    follows_name: settings.sync_project_name,
    allows_steps: settings.allow_workflow_steps,
  };
  const options = optionsOf('more').filter(({ value }) => !isDirect || value === 'show_steps');
  const ticked = options.filter(({ value }) => isTicked[value]);
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
