import type { AccountSection } from '../features/account/account-section.ts';
import type { ChannelSettingsModal } from '../features/channel-settings/channel-settings-modal.ts';
import { RunningTasks } from '../features/commands/running-tasks.ts';
import type { DirectMessages } from '../features/direct-messages/direct-messages.ts';
import type { StartFormHandler } from '../features/start/start-form-handler.ts';
import { StepsModal } from '../features/steps/steps-modal.ts';
import type { TaskFeatures } from '../features/tasks/task-feature.ts';
import type { WorkspaceAccessSettings } from '../features/workspace-settings/workspace-access-settings.ts';
import { registerAccountListeners } from '../listeners/account-listener.ts';
import { registerChannelSettingsListener } from '../listeners/channel-settings-listener.ts';
import { registerControlButtonListeners } from '../listeners/control-button-listener.ts';
import { registerFeedbackListeners } from '../listeners/feedback-listener.ts';
import { registerHomeListeners } from '../listeners/home-listener.ts';
import type { SendEphemeral } from '../listeners/press.ts';
import { registerShortcutListeners, type SendDirectly } from '../listeners/shortcut-listener.ts';
import type { SlackAppDeps } from '../listeners/slack-app.ts';
import {
  newTaskHandler,
  registerSlashCommandListener,
  type SlashCommandHandlers,
} from '../listeners/slash-command-listener.ts';
import { registerStartFormListeners } from '../listeners/start-form-listener.ts';
import { registerStepsListener } from '../listeners/steps-listener.ts';
import { registerTaskDetailsListeners } from '../listeners/task-details-listener.ts';
import { registerWorkspaceAccessListeners } from '../listeners/workspace-access-listener.ts';
import type { ThreadControls } from '../relay/controls/thread-controls.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { sendEphemeral as tellPerson } from '../relay/runtime/ephemeral-messages.ts';

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
    (app) =>
      registerShortcutListeners(
        app,
        starting.forms,
        { inChannel: sendEphemeral, directly: sendDirectly },
        log,
      ),
    (app) => registerStartFormListeners(app, starting, sendEphemeral, log),
    (app) => registerChannelSettingsListener(app, channelSettings, log),
    (app) => registerHomeListeners(app, { ...tasks, directMessages: direct }, log),
    (app) => registerTaskDetailsListeners(app, tasks, log),
  ];
}
