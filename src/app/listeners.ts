import { listenToAccounts } from '../listen/accounts.ts';
import { listenToChannelSettings } from '../listen/channel-settings.ts';
import { type CommandHandlers, listenToCommands, startingHandlers } from '../listen/commands.ts';
import { listenToControls } from '../listen/controls.ts';
import { listenToFeedback } from '../listen/feedback.ts';
import { listenToHome } from '../listen/home.ts';
import type { Telling } from '../listen/press.ts';
import { listenToShortcuts, type TellingDirectly } from '../listen/shortcuts.ts';
import type { SlackAppParts } from '../listen/slack-app.ts';
import { listenToStartForm } from '../listen/start-modal.ts';
import { listenToSteps } from '../listen/steps.ts';
import { listenToTasks } from '../listen/tasks.ts';
import { listenToWorkspaceDoor } from '../listen/workspace-door.ts';
import type { AccountHome } from '../relay/accounts/account-home.ts';
import type { WorkspaceDoor } from '../relay/admitting/workspace-door.ts';
import type { ChannelSettings } from '../relay/channels/channel-settings.ts';
import type { RelayParts } from '../relay/context.ts';
import type { Hands } from '../relay/controls/hands.ts';
import { StepsModal } from '../relay/controls/steps-modal.ts';
import type { DirectMessages } from '../relay/direct-messages.ts';
import { ChannelOverview } from '../relay/starting/channel-overview.ts';
import type { Starting } from '../relay/starting/starting.ts';
import type { TaskFeature } from '../relay/tasks/task-feature.ts';
import { tell as tellPerson } from '../relay/telling.ts';

/** Who carries out what people press, type and send. */
export interface Rooms {
  hands: Hands;
  accountHome: AccountHome;
  door: WorkspaceDoor;
  channelSettings: ChannelSettings;
  starting: Starting;
  tasks: TaskFeature;
  direct: DirectMessages;
}

/** Everything that listens to Slack beside messages. */
export function listenersOf(parts: RelayParts, rooms: Rooms): SlackAppParts['listeners'] {
  const { hands, accountHome, door, channelSettings, starting, tasks, direct } = rooms;
  const { log } = parts;
  const tell: Telling = (place, sentence) => tellPerson(parts, place, sentence);
  const directly: TellingDirectly = (id, person, sentence) =>
    starting.forms.tellDirectly(id, person, sentence);
  const overview = new ChannelOverview(parts);
  const commands: CommandHandlers = {
    ...startingHandlers(starting.forms),
    status: (typed) => overview.running(typed),
    stop: (typed) => overview.running(typed),
    tasks: (typed) => tasks.list.listChannel(typed),
    settings: (use) => channelSettings.open(use),
  };
  return [
    (app) => listenToSteps(app, new StepsModal(parts), tell, log),
    (app) => listenToAccounts(app, accountHome, log),
    (app) => listenToWorkspaceDoor(app, door, log),
    (app) => listenToFeedback(app, hands.feedback, tell, log),
    (app) => listenToControls(app, hands.controls, tell, log),
    (app) => listenToCommands(app, commands, log),
    (app) => listenToShortcuts(app, starting.forms, { inChannel: tell, directly }, log),
    (app) => listenToStartForm(app, starting, tell, log),
    (app) => listenToChannelSettings(app, channelSettings, log),
    (app) => listenToHome(app, { ...tasks, direct }, log),
    (app) => listenToTasks(app, tasks, log),
  ];
}
