import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { DirectMessages } from '../relay/direct-messages.ts';
import type { Home } from '../relay/tasks/home.ts';
import type { TaskModal } from '../relay/tasks/task-modal.ts';
import { type HomePlace, readTaskKey, readTurn } from '../reply/views/home-view.ts';
import * as words from '../reply/words.ts';
import { readEnvelope } from './events.ts';
import { jsonOf } from './json.ts';
import { type Actor, behindAnswer, readActor } from './press.ts';

/** Who shows what the Home tab leads to. */
export interface HomeListeners {
  home: Pick<Home, 'show' | 'openSettings'>;
  tasks: Pick<TaskModal, 'open'>;
  direct: Pick<DirectMessages, 'opened'>;
}

const id = z.string().regex(/^[\w-]{1,100}$/);

const placeShape = z.object({
  page: z.int().min(0).max(100_000),
  channel: id.optional(),
  channelPage: z.int().min(0).max(100_000),
});

const view = z.looseObject({ private_metadata: z.string().optional(), hash: z.string().optional() });

const openedShape = z.looseObject({
  type: z.literal('app_home_opened'),
  user: id,
  channel: id,
  tab: z.string().optional(),
  view: view.optional(),
});

const pressShape = z.looseObject({
  trigger_id: z.string(),
  view,
  actions: z
    .array(z.looseObject({ value: z.string().nullish(), selected_conversation: id.nullish() }))
    .min(1),
});

/** A press in somebody's Home tab. */
interface HomePress extends Actor {
  place: HomePlace;
  triggerId: string;
  value: string;
  chosen: string | undefined;
}

/** Takes what people do in the Home tab. It changes nothing of theirs, so each is acknowledged at once. */
export function listenToHome(app: App, { home, tasks, direct }: HomeListeners, log: Logger): void {
  app.event('app_home_opened', async ({ body }) => {
    const envelope = readEnvelope(body);
    const event = openedShape.safeParse(envelope?.event);
    if (envelope === undefined || !event.success) return;
    const { user: person, channel, tab, view: shown } = event.data;
    const { workspace } = envelope;
    if (tab === 'messages') run('prompts', direct.opened(workspace, channel));
    else {
      const place = readHomePlace(shown);
      run('the Home tab', home.show({ workspace, person, place, hash: shown?.hash }));
    }
  });

  listen('home_refresh', ({ workspace, person, place }) => home.show({ workspace, person, place }));
  for (const turn of ['home_newer', 'home_older']) {
    listen(turn, async ({ workspace, person, place, value }) => {
      const to = readTurn(value);
      if (to === undefined) return;
      const turned = to.list === 'own' ? { page: to.page } : { channelPage: to.page };
      await home.show({ workspace, person, place: { ...place, ...turned } });
    });
  }
  listen('home_channel', ({ workspace, person, place, chosen }) =>
    home.show({ workspace, person, place: { page: place.page, channel: chosen, channelPage: 0 } }),
  );
  listen('home_settings', ({ value: channel, place, ...press }) =>
    home.openSettings({ ...press, channel }, place),
  );
  listen('task_details', async ({ workspace, person, place, triggerId, value }) => {
    const key = readTaskKey(value);
    if (key === undefined) return;
    const outcome = await tasks.open(triggerId, { workspace, person, ...key, page: 0, home: place });
    if (outcome === 'late') await home.show({ workspace, person, place, note: words.controlOver.late });
  });

  function listen(actionId: string, take: (press: HomePress) => Promise<void>): void {
    app.action(actionId, async ({ ack, body }) => {
      await ack();
      const press = readPress(body);
      if (press === undefined) log.debug({ action: actionId }, 'a press that is not for us is passed over');
      else run(actionId, take(press));
    });
  }

  function run(what: string, work: Promise<void>): void {
    behindAnswer(work, log.child({ what }), 'something could not be shown');
  }
}

/** What a Home tab showed, as its metadata say it; the first pages where they say nothing. */
export function homePlaceOf(value: unknown): HomePlace {
  return placeShape.safeParse(value).data ?? { page: 0, channelPage: 0 };
}

function readHomePlace(shown: z.output<typeof view> | undefined): HomePlace {
  return homePlaceOf(jsonOf(shown?.private_metadata ?? ''));
}

function readPress(body: unknown): HomePress | undefined {
  const actor = readActor(body);
  const press = pressShape.safeParse(body);
  const action = press.data?.actions[0];
  if (actor === undefined || !press.success || action === undefined) return undefined;
  const { trigger_id: triggerId, view: shown } = press.data;
  return {
    ...actor,
    place: readHomePlace(shown),
    triggerId,
    value: action.value ?? '',
    chosen: action.selected_conversation ?? undefined,
  };
}
