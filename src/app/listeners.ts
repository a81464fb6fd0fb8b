import { registerAccountListeners } from '../listen/accounts.ts';
import { registerChannelSettingsListener } from '../listen/channel-settings.ts';
import { type SlashCommandHandlers, registerSlashCommandListener, newTaskHandler } from '../listen/commands.ts';
import { registerControlButtonListeners } from '../listen/controls.ts';
import { registerFeedbackListeners } from '../listen/feedback.ts';
import { registerHomeListeners } from '../listen/home.ts';
import type { SendEphemeral } from '../listen/press.ts';
import { registerShortcutListeners, type SendDirectly } from '../listen/shortcuts.ts';
import type { SlackAppDeps } from '../listen/slack-app.ts';
import { registerStartFormListeners } from '../listen/start-modal.ts';
import { registerStepsListener } from '../listen/steps.ts';
import { registerTaskDetailsListeners } from '../listen/tasks.ts';
import { registerWorkspaceAccessListeners } from '../listen/workspace-door.ts';
import type { AccountSection } from '../relay/accounts/account-home.ts';
import type { WorkspaceAccessSettings } from '../relay/admitting/workspace-door.ts';
import type { ChannelSettingsModal } from '../relay/channels/channel-settings.ts';
import type { RelayDeps } from '../relay/context.ts';
import type { ThreadControls } from '../relay/controls/hands.ts';
import { StepsModal } from '../relay/controls/steps-modal.ts';
import type { DirectMessages } from '../relay/direct-messages.ts';
import { RunningTasks } from '../relay/starting/channel-overview.ts';
import type { StartFormHandler } from '../relay/starting/starting.ts';
import type { TaskFeatures } from '../relay/tasks/task-feature.ts';
import { sendEphemeral as tellPerson } from '../relay/telling.ts';

/** Who carries out what people press, type and send. */
export interface ListenerHandlers {
  hands: ThreadControls;
  accountHome: AccountSection;
  workspaceAccess: WorkspaceAccessSettings;
  channelSettings: ChannelSettingsModal;
  starting: StartFormHandler;
  tasks: TaskFeatures;
  direct: DirectMessages;
}

/** Everything that listens to Slack beside messages. */
export function createListeners(deps: RelayDeps, handlers: ListenerHandlers): SlackAppDeps['listeners'] {
  const { hands, accountHome, workspaceAccess, channelSettings, starting, tasks, direct } = handlers;
  const { log } = deps;
  const sendEphemeral: SendEphemeral = (place, sentence) => tellPerson(deps, place, sentence);
  const sendDirectly: SendDirectly = (id, person, sentence) =>
    starting.forms.sendDirectMessage(id, person, sentence);
  const overview = new RunningTasks(deps);
  const commands: SlashCommandHandlers = {
    ...newTaskHandler(starting.forms),
    status: (typed) => overview.list(typed),
    stop: (typed) => overview.list(typed),
    tasks: (typed) => tasks.list.channelListMessage(typed),
    settings: (use) => channelSettings.open(use),
  };
  return [
    (app) => registerStepsListener(app, new StepsModal(deps), sendEphemeral, log),
    (app) => registerAccountListeners(app, accountHome, log),
    (app) => registerWorkspaceAccessListeners(app, workspaceAccess, log),
    (app) => registerFeedbackListeners(app, hands.feedback, sendEphemeral, log),
    (app) => registerControlButtonListeners(app, hands.buttons, sendEphemeral, log),
    (app) => registerSlashCommandListener(app, commands, log),
    (app) => registerShortcutListeners(app, starting.forms, { inChannel: sendEphemeral, directly: sendDirectly }, log),
    (app) => registerStartFormListeners(app, starting, sendEphemeral, log),
    (app) => registerChannelSettingsListener(app, channelSettings, log),
    (app) => registerHomeListeners(app, { ...tasks, directMessages: direct }, log),
    (app) => registerTaskDetailsListeners(app, tasks, log),
  ];
}
