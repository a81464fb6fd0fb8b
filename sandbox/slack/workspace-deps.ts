import { Deliveries } from './deliveries.ts';
import { Events } from './events.ts';
import { FileServer } from './file-server.ts';
import { Interactions } from './interactions.ts';
import { Messages } from './messages.ts';
import { SLACK_LIMITS } from './rate-limits.ts';
import { SocketModeServer } from './socket-mode-server.ts';
import { Views } from './views.ts';
import type { Settings, WorkspaceDeps } from './web-api-method.ts';
import type { SlackWorkspaceOptions } from './workspace-options.ts';
import type { World } from './world.ts';

/** Creates and connects the parts of a workspace. */
export function createWorkspaceDeps(
  world: World,
  settings: Settings,
  options: SlackWorkspaceOptions,
  ackTimeoutMs: number,
  appId: string,
): WorkspaceDeps {
  const { ids, clock, random } = world;
  const sockets = new SocketModeServer({ ids, random, ackTimeoutMs, appId });
  const deliveries = new Deliveries(sockets, options.retryScale ?? 1);
  const { limits = {} } = options;
  const events = new Events({
    deliveries,
    ids,
    clock,
    random,
    behaviour: {
      order: 'random',
      gapMs: 0,
      editCopies: 'both',
      duplicateChance: 0,
      botAlias: '',
      organisationOnly: false,
      ...options.delivery,
    },
    scopes: settings.scopes,
    subscribed: () => settings.events,
    eventsPerHour:
      limits === 'off' ? Number.POSITIVE_INFINITY : (limits.eventsPerHour ?? SLACK_LIMITS.eventsPerHour),
  });
  const messages = new Messages(world, events);
  const interactions = new Interactions({ world, messages, deliveries, triggerMs: settings.triggerMs });
  const files = new FileServer(world, () => settings.scopes.has('files:read'));
  const views = new Views(world);
  return { world, events, deliveries, messages, files, views, interactions, sockets, settings };
}
