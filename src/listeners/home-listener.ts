import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { DirectMessages } from '../features/direct-messages/direct-messages.ts';
import type { HomeTab } from '../features/home/home-tab.ts';
import { type HomeTabState, parsePageButton, parseTaskButton } from '../features/home/home-view.ts';
import type { TaskModal } from '../features/tasks/task-modal.ts';
import * as strings from '../render/strings/index.ts';
import { parseEnvelope } from './event-parser.ts';
import { type Actor, parseActor, runAfterAck } from './press.ts';
import { tryParseJson } from './safe-json.ts';

/** Who shows what the Home tab leads to. */
export interface HomeHandlers {
  home: Pick<HomeTab, 'show' | 'openChannelSettings'>;
  tasks: Pick<TaskModal, 'open'>;
  directMessages: Pick<DirectMessages, 'suggestPrompts'>;
}

const slackId = z.string().regex(/^[\w-]{1,100}$/);

const homePageSchema = z.object({
  page: z.int().min(0).max(100_000),
  channel: slackId.optional(),
  channelPage: z.int().min(0).max(100_000),
});

const viewSchema = z.looseObject({ private_metadata: z.string().optional(), hash: z.string().optional() });

const homeOpenedSchema = z.looseObject({
  type: z.literal('app_home_opened'),
  user: slackId,
  channel: slackId,
  tab: z.string().optional(),
  view: viewSchema.optional(),
});

const pressSchema = z.looseObject({
  trigger_id: z.string(),
  view: viewSchema,
  actions: z
    .array(z.looseObject({ value: z.string().nullish(), selected_conversation: slackId.nullish() }))
    .min(1),
});

/** A press in somebody's Home tab. */
interface HomePress extends Actor {
  place: HomeTabState;
  triggerId: string;
  value: string;
  selectedConversation: string | undefined;
}

/** Takes what people do in the Home tab. It changes nothing of theirs, so each is acknowledged at once. */
export function registerHomeListeners(
  app: App,
  { home, tasks, directMessages }: HomeHandlers,
  log: Logger,
): void {
  app.event('app_home_opened', async ({ body }) => {
    const envelope = parseEnvelope(body);
    const event = homeOpenedSchema.safeParse(envelope?.event);
    if (envelope === undefined || !event.success) return;
    const { user: person, channel, tab, view: shown } = event.data;
    const { workspace } = envelope;
    if (tab === 'messages') background('prompts', directMessages.suggestPrompts(workspace, channel));
    else {
      const place = readHomePage(shown);
      background('the Home tab', home.show({ workspace, person, state: place, hash: shown?.hash }));
    }
  });

  onAction('home_refresh', ({ workspace, person, place }) => home.show({ workspace, person, state: place }));
  for (const turn of ['home_newer', 'home_older']) {
    onAction(turn, async ({ workspace, person, place, value }) => {
      const to = parsePageButton(value);
      if (to === undefined) return;
      const turned = to.list === 'own' ? { page: to.page } : { channelPage: to.page };
      await home.show({ workspace, person, state: { ...place, ...turned } });
    });
  }
  onAction('home_channel', ({ workspace, person, place, selectedConversation }) =>
    home.show({
      workspace,
      person,
      state: { page: place.page, channel: selectedConversation, channelPage: 0 },
    }),
  );
  onAction('home_settings', ({ value: channel, place, ...press }) =>
    home.openChannelSettings({ ...press, channel }, place),
  );
  onAction('task_details', async ({ workspace, person, place, triggerId, value }) => {
    const key = parseTaskButton(value);
    if (key === undefined) return;
    const outcome = await tasks.open(triggerId, { workspace, person, ...key, page: 0, home: place });
    if (outcome === 'late')
      await home.show({ workspace, person, state: place, note: strings.controlFailed.late });
  });

  function onAction(actionId: string, handle: (press: HomePress) => Promise<void>): void {
    app.action(actionId, async ({ ack, body }) => {
      await ack();
      const press = parsePress(body);
      if (press === undefined) log.debug({ action: actionId }, 'a press that is not for us is passed over');
      else background(actionId, handle(press));
    });
  }

  function background(what: string, work: Promise<void>): void {
    runAfterAck(work, log.child({ what }), 'something could not be shown');
  }
}

/** What a Home tab showed, as its metadata say it; the first pages where they say nothing. */
export function parseHomePage(value: unknown): HomeTabState {
  return homePageSchema.safeParse(value).data ?? { page: 0, channelPage: 0 };
}

function readHomePage(shown: z.output<typeof viewSchema> | undefined): HomeTabState {
  return parseHomePage(tryParseJson(shown?.private_metadata ?? ''));
}

function parsePress(body: unknown): HomePress | undefined {
  const actor = parseActor(body);
  const press = pressSchema.safeParse(body);
  const action = press.data?.actions[0];
  if (actor === undefined || !press.success || action === undefined) return undefined;
  const { trigger_id: triggerId, view: shown } = press.data;
  return {
    ...actor,
    place: readHomePage(shown),
    triggerId,
    value: action.value ?? '',
    selectedConversation: action.selected_conversation ?? undefined,
  };
}
