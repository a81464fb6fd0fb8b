import { shorten } from '../graphemes.ts';
import { plainText, section } from '../slack-blocks.ts';
import * as words from '../words.ts';
import { botsInput, type FormOption, type FormView, type InputBlock, input, option } from './inputs.ts';
import { notice } from './modal.ts';

/** Names the form, so that what is sent comes back to who reads it. */
export const CHANNEL_SETTINGS = 'channel_settings';

/** The settings that the form shows; null: as for the whole app. */
export interface ShownSettings {
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
export interface ChannelForm {
  /** What comes back with the form; 3,000 characters at most. */
  metadata: string;
  settings: ShownSettings;
  /** A channel between the bot and one person: nobody else listens, uses or controls there. */
  direct: boolean;
  /** The channel's project; its texts are undefined where the service does not tell them. */
  project: { id: string; title?: string | undefined; description?: string | undefined } | undefined;
}

/** Characters that a field takes at most (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
const FIELD_MOST = 3_000;
const TITLE_MOST = 500;
const ID_MOST = 200;

const said = words.channelSettings;

/** The form with a channel's settings. */
export function channelSettingsView(form: ChannelForm): FormView {
  const { settings, project } = form;
  const about = project === undefined ? said.noProject : words.projectOfChannel(project.id);
  return {
    type: 'modal',
    callback_id: CHANNEL_SETTINGS,
    private_metadata: form.metadata,
    title: plainText(said.title),
    submit: plainText(said.save),
    close: plainText(said.cancel),
    blocks: [
      section(about),
      ...(project === undefined ? [] : projectFields(project)),
      input(
        { type: 'plain_text_input', action_id: 'channel_project', max_length: ID_MOST },
        { label: said.useProject, hint: said.useProjectHint, optional: true },
      ),
      chooser('model', settings.model ?? 'usual'),
      ...(form.direct
        ? []
        : [
            chooser('listens', settings.listens, 'radio_buttons'),
            chooser('admits', settings.admits ?? 'usual'),
            botsInput('channel_bots', settings.bots),
            chooser('controls', settings.controls ?? 'usual'),
          ]),
      ticks(settings, form.direct),
    ],
  };
}

/** The modal until the settings are there, or where they are not shown. */
export function channelSettingsNotice(sentence: string): FormView {
  return notice(said.title, sentence);
}

/** A text as its field shows it. */
export function fieldText(text: string): string {
  return shorten(text, FIELD_MOST);
}

function projectFields(project: NonNullable<ChannelForm['project']>): InputBlock[] {
  const { title, description } = project;
  const unread = title === undefined;
  const kept = unread ? said.unreadHint : undefined;
  return [
    input(
      {
        type: 'plain_text_input',
        action_id: 'channel_title',
        max_length: TITLE_MOST,
        ...initial(title === undefined ? undefined : shorten(title, TITLE_MOST)),
      },
      { label: said.projectTitle, hint: kept, optional: unread },
    ),
    input(
      {
        type: 'plain_text_input',
        action_id: 'channel_description',
        multiline: true,
        max_length: FIELD_MOST,
        ...initial(description === undefined ? undefined : fieldText(description)),
      },
      { label: said.description, hint: kept ?? said.descriptionHint, optional: true },
    ),
  ];
}

function initial(value: string | undefined): { initial_value?: string } {
  return value === undefined || value === '' ? {} : { initial_value: value };
}

type Choosing = 'model' | 'listens' | 'admits' | 'controls';

function chooser(
  id: Choosing,
  chosen: string,
  type: 'static_select' | 'radio_buttons' = 'static_select',
): InputBlock {
  const options = optionsOf(id);
  const now = options.find(({ value }) => value === chosen) ?? options[0];
  const first = now === undefined ? {} : { initial_option: now };
  return input({ type, action_id: `channel_${id}`, options, ...first }, { label: said[id], optional: false });
}

function ticks(settings: ShownSettings, direct: boolean): InputBlock {
  const options = optionsOf('more').filter(({ value }) => !(direct && value === 'follows_name'));
  const ticked = options.filter(({ value }) =>
    value === 'show_steps' ? settings.show_steps : settings.follows_name,
  );
  const first = ticked.length === 0 ? {} : { initial_options: ticked };
  return input(
    { type: 'checkboxes', action_id: 'channel_more', options, ...first },
    { label: said.more, optional: true },
  );
}

function optionsOf(id: Choosing | 'more'): FormOption[] {
  return Object.entries(words.channelChoices[id]).map(([value, [text, description]]) =>
    option(value, text, description),
  );
}
