import type { ChannelSettingsModal } from '../features/settings/channel-settings.ts';
import type { ChannelSettingsValues } from '../features/settings/channel-settings-snapshot.ts';
import { CHANNEL_SETTINGS_CALLBACK } from '../features/settings/channel-settings-view.ts';
import * as strings from '../render/strings/index.ts';
import { type FormSubmission, type ListenerContext, onForm, savedOrErrors } from './press.ts';

/** Handles forms with a channel's settings: each is saved before it is acknowledged, or shows its errors. */
export function registerChannelSettingsListener(
  context: ListenerContext,
  settings: Pick<ChannelSettingsModal, 'save'>,
): void {
  onForm(context, CHANNEL_SETTINGS_CALLBACK, async (form) => {
    const { actor, metadata } = form;
    const errors = await settings.save({ ...actor, metadata, values: settingsValues(form) });
    return savedOrErrors(errors, strings.channelSettings.title);
  });
}

/** A field that the form did not have is undefined, an empty one ''. */
function settingsValues({ input }: FormSubmission): ChannelSettingsValues {
  const text = (id: string) => {
    const field = input(id);
    return field && (field.value ?? '');
  };
  const option = (id: string) => input(id)?.selected_option?.value;
  return {
    project: text('channel_project') ?? '',
    title: text('channel_title'),
    description: text('channel_description'),
    model: option('channel_model'),
    listens: option('channel_listens'),
    admits: option('channel_admits'),
    bots: text('channel_bots'),
    controls: option('channel_controls'),
    more: (input('channel_more')?.selected_options ?? []).map(({ value }) => value),
  };
}
