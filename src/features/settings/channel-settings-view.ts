import {
  botsInput,
  checkboxesInput,
  choiceInput,
  type FormOption,
  formOption,
  type Modal,
  textInput,
  type ViewBlock,
} from '../../render/blocks/modal.ts';
import { plainText, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/shorten.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';

export const CHANNEL_SETTINGS_CALLBACK = 'channel_settings';

/** The settings that the form shows; null means the app's own setting. */
export interface ChannelSettingsFields extends Omit<Settings, 'allowed_bots'> {
  sync_project_name: boolean;
  /** As people type them: ids separated by commas, the word none, or '' for the workspace's setting. */
  allowed_bots: string;
}

export interface ChannelSettingsFormContent {
  /** At most 3,000 characters. */
  metadata: string;
  settings: ChannelSettingsFields;
  /** What holds where the channel sets nothing. */
  usual: Record<'listens' | 'admits' | 'bots' | 'controls', strings.ValueInForce>;
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
export function channelSettingsView(form: ChannelSettingsFormContent): Modal {
  const { settings, project, usual } = form;
  const byService = { text: 'usual', from: 'service' } as const;
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
      textInput(
        'channel_project',
        { label: labels.useProject, hint: labels.useProjectHint, optional: true },
        { maxLength: MAX_ID_CHARACTERS },
      ),
      settingInput('model', settings.model, byService),
      ...(form.isDirect
        ? []
        : [
            settingInput('listens', settings.listen_mode, usual.listens, 'radio_buttons'),
            settingInput('admits', settings.allowed_users, usual.admits),
            botsInput('channel_bots', settings.allowed_bots, noteOf(settings.allowed_bots, usual.bots)),
            settingInput('controls', settings.task_control, usual.controls),
          ]),
      otherSettings(settings, form.isDirect),
    ],
  };
}

/** A text, shortened to what its field shows. */
export function asFieldText(text: string): string {
  return shorten(text, MAX_FIELD_CHARACTERS);
}

function projectFields(project: NonNullable<ChannelSettingsFormContent['project']>): ViewBlock[] {
  const { title, description } = project;
  const unread = title === undefined;
  const kept = unread ? labels.unreadHint : undefined;
  return [
    textInput(
      'channel_title',
      { label: labels.projectTitle, hint: kept, optional: unread },
      { initial: title, maxLength: MAX_TITLE_CHARACTERS },
    ),
    textInput(
      'channel_description',
      { label: labels.description, hint: kept ?? labels.descriptionHint, optional: true },
      { initial: description, maxLength: MAX_FIELD_CHARACTERS, multiline: true },
    ),
  ];
}

type ChoiceField = 'model' | 'listens' | 'admits' | 'controls';

function settingInput(
  id: ChoiceField,
  chosen: string | null,
  usual: strings.ValueInForce,
  type?: 'radio_buttons',
): ViewBlock {
  const options = optionsOf(id);
  const nameOf = (wanted: string) => options.find(({ value }) => value === wanted)?.text.text ?? wanted;
  const hint = noteOf(chosen && nameOf(chosen), { ...usual, text: nameOf(usual.text) });
  return choiceInput(`channel_${id}`, { label: labels[id], hint }, options, chosen ?? 'usual', type);
}

/** What holds now, and who has set it. */
function noteOf(own: string | null, usual: strings.ValueInForce): string {
  return strings.settingInForce(own === null || own === '' ? usual : { text: own, from: 'channel' });
}

function otherSettings(settings: ChannelSettingsFields, isDirect: boolean): ViewBlock {
  const isTicked: Record<string, boolean> = {
    show_steps: settings.show_steps,
    follows_name: settings.sync_project_name,
    allows_steps: settings.allow_workflow_steps,
  };
  const options = optionsOf('more').filter(({ value }) => !isDirect || value === 'show_steps');
  const ticked = Object.keys(isTicked).filter((value) => isTicked[value]);
  return checkboxesInput('channel_more', labels.more, options, ticked);
}

function optionsOf(id: ChoiceField | 'more'): FormOption[] {
  return Object.entries(strings.channelChoices[id]).map(([value, [text, description]]) =>
    formOption(value, text, description),
  );
}
