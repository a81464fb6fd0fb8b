import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ChannelSettings, SentForm } from '../relay/channels/channel-settings.ts';
import { CHANNEL_SETTINGS } from '../reply/views/channel-settings-view.ts';
import { readActor } from './press.ts';

/** Who saves the settings of a channel. */
export type ChannelSettingsListener = Pick<ChannelSettings, 'save'>;

/** The fields of the form, whose block and element share their id; a field that was not asked for is missing. */
const chosen = z.looseObject({ selected_option: z.looseObject({ value: z.string() }).nullish() });
const written = z.looseObject({ value: z.string().nullish() });
const ticked = z.looseObject({ selected_options: z.array(z.looseObject({ value: z.string() })) });

const formShape = z.looseObject({
  view: z.looseObject({
    private_metadata: z.string(),
    state: z.looseObject({
      values: z.looseObject({
        channel_project: z.looseObject({ channel_project: written }).optional(),
        channel_title: z.looseObject({ channel_title: written }).optional(),
        channel_description: z.looseObject({ channel_description: written }).optional(),
        channel_model: z.looseObject({ channel_model: chosen }).optional(),
        channel_listens: z.looseObject({ channel_listens: chosen }).optional(),
        channel_admits: z.looseObject({ channel_admits: chosen }).optional(),
        channel_bots: z.looseObject({ channel_bots: written }).optional(),
        channel_controls: z.looseObject({ channel_controls: chosen }).optional(),
        channel_more: z.looseObject({ channel_more: ticked }).optional(),
      }),
    }),
  }),
});

/** Takes forms with a channel's settings; each is saved before it is acknowledged, or says what is wrong with it. */
export function listenToChannelSettings(app: App, listener: ChannelSettingsListener, log: Logger): void {
  app.view({ callback_id: CHANNEL_SETTINGS, type: 'view_submission' }, async ({ ack, body }) => {
    const form = readForm(body);
    if (form === undefined) {
      log.warn('a form with settings is none of ours, or has changed');
      await ack();
      return;
    }
    const errors = { ...(await listener.save(form)) };
    if (Object.keys(errors).length === 0) await ack();
    else await ack({ response_action: 'errors', errors });
  });
}

function readForm(body: unknown): SentForm | undefined {
  const actor = readActor(body);
  const view = formShape.safeParse(body).data?.view;
  if (actor === undefined || view === undefined) return undefined;
  const { values } = view.state;
  // An empty field has the value null.
  const text = (field: z.output<typeof written> | undefined) => field && (field.value ?? '');
  return {
    ...actor,
    metadata: view.private_metadata,
    filled: {
      project: text(values.channel_project?.channel_project) ?? '',
      title: text(values.channel_title?.channel_title),
      description: text(values.channel_description?.channel_description),
      model: values.channel_model?.channel_model.selected_option?.value,
      listens: values.channel_listens?.channel_listens.selected_option?.value,
      admits: values.channel_admits?.channel_admits.selected_option?.value,
      bots: text(values.channel_bots?.channel_bots),
      controls: values.channel_controls?.channel_controls.selected_option?.value,
      more: values.channel_more?.channel_more.selected_options.map(({ value }) => value) ?? [],
    },
  };
}
