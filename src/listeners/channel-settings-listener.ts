import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ChannelSettingsModal } from '../features/channel-settings/channel-settings.ts';
import type { ChannelSettingsValues } from '../features/channel-settings/channel-settings-snapshot.ts';
import { CHANNEL_SETTINGS_CALLBACK } from '../features/channel-settings/channel-settings-view.ts';
import * as strings from '../render/strings/index.ts';
import { onForm, savedOrErrors } from './press.ts';

const selectedOption = z.looseObject({ selected_option: z.looseObject({ value: z.string() }).nullish() });
const textInput = z.looseObject({ value: z.string().nullish() });
const checkboxes = z.looseObject({ selected_options: z.array(z.looseObject({ value: z.string() })) });

/** The fields of the form, whose block and element share their id; a field that the form did not have is missing. */
const formValues = z.looseObject({
  channel_project: z.looseObject({ channel_project: textInput }).optional(),
  channel_title: z.looseObject({ channel_title: textInput }).optional(),
  channel_description: z.looseObject({ channel_description: textInput }).optional(),
  channel_model: z.looseObject({ channel_model: selectedOption }).optional(),
  channel_listens: z.looseObject({ channel_listens: selectedOption }).optional(),
  channel_admits: z.looseObject({ channel_admits: selectedOption }).optional(),
  channel_bots: z.looseObject({ channel_bots: textInput }).optional(),
  channel_controls: z.looseObject({ channel_controls: selectedOption }).optional(),
  channel_more: z.looseObject({ channel_more: checkboxes }).optional(),
});

/** Handles forms with a channel's settings: each is saved before it is acknowledged, or shows its errors. */
export function registerChannelSettingsListener(
  app: App,
  settings: Pick<ChannelSettingsModal, 'save'>,
  log: Logger,
): void {
  onForm(app, CHANNEL_SETTINGS_CALLBACK, formValues, log, async ({ actor, metadata, values }) =>
    savedOrErrors(
      await settings.save({ ...actor, metadata, values: toSettingsValues(values) }),
      strings.channelSettings.title,
    ),
  );
}

function toSettingsValues(values: z.output<typeof formValues>): ChannelSettingsValues {
  // An empty field has the value null.
  const text = (field: z.output<typeof textInput> | undefined) => field && (field.value ?? '');
  return {
    project: text(values.channel_project?.channel_project) ?? '',
    title: text(values.channel_title?.channel_title),
    description: text(values.channel_description?.channel_description),
    model: values.channel_model?.channel_model.selected_option?.value,
    listens: values.channel_listens?.channel_listens.selected_option?.value,
    admits: values.channel_admits?.channel_admits.selected_option?.value,
    bots: text(values.channel_bots?.channel_bots),
    controls: values.channel_controls?.channel_controls.selected_option?.value,
    more: values.channel_more?.channel_more.selected_options.map(({ value }) => value) ?? [],
  };
}
