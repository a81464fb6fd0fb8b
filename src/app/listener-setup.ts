import { AnswerFeedback } from '../features/answer-feedback.ts';
import type { TitlesAndPrompts } from '../features/direct-messages.ts';
import { StartForm } from '../features/start/start-form.ts';
import { askByCommand } from '../features/start/start-form-submission.ts';
import { showFreshLinks, showSteps } from '../features/steps-and-fresh-links.ts';
import { listChannelTasks, listRunningTasks } from '../features/task-commands.ts';
import { TaskModal } from '../features/task-details/task-modal.ts';
import {
  registerShortcutListeners,
  registerSlashCommandListener,
} from '../listeners/commands-and-shortcuts.ts';
import {
  registerAccountListeners,
  registerSettingsListeners,
  registerStartFormListeners,
} from '../listeners/forms.ts';
import { registerHomeListeners, registerTaskDetailsListeners } from '../listeners/home-and-task-details.ts';
import {
  registerControlButtonListeners,
  registerFeedbackListeners,
  registerFreshLinksListener,
  registerMessageButtonListeners,
  registerStepsListener,
} from '../listeners/message-buttons.ts';
import type { ListenerContext } from '../listeners/press.ts';
import type { ButtonActions } from '../relay/controls/continue-and-retry.ts';
import type { PausedMessages } from '../relay/controls/paused-messages.ts';
import type { SendNow } from '../relay/controls/send-now.ts';
import type { StopControl } from '../relay/controls/stop-control.ts';
import type { UnsentReplies } from '../relay/controls/unsent-reply-buttons.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { sendDirectMessage, sendEphemeral } from '../relay/runtime/private-messages.ts';
import type { Features } from './features.ts';

export interface ListenerHandlers extends Features {
  stopControl: StopControl;
  pausedMessages: PausedMessages;
  buttonActions: ButtonActions;
  sendNow: SendNow;
  unsentReplies: UnsentReplies;
  directMessages: TitlesAndPrompts;
}

/** Adds every listener but the one for messages to the app. */
export function registerListeners(
  app: ListenerContext['app'],
  deps: RelayDeps,
  handlers: ListenerHandlers,
): void {
  const { stopControl, pausedMessages, buttonActions, channelSettings, startFormHandler } = handlers;
  const context: ListenerContext = {
    app,
    log: deps.log,
    sendEphemeral: (location, text) => sendEphemeral(deps, location, text),
  };
  const startModal = new StartForm(deps);
  const taskModal = new TaskModal(deps);
  registerControlButtonListeners(context, {
    stop: (press) => stopControl.requestStop(press),
    stop_listed: async (press) => {
      const outcome = await stopControl.requestStop(press);
      const { workspace, channel = '', person } = press;
      return { outcome, replacement: await listRunningTasks(deps, { workspace, channel, person }) };
    },
    continue: (press) => buttonActions.continue(press),
    retry: (press) => buttonActions.retry(press),
    go_ahead: (press) => buttonActions.answerPlan(press, 'go_ahead'),
    stop_here: (press) => buttonActions.answerPlan(press, 'stop_here'),
    correct: (press) => buttonActions.correct(press),
    send_paused: (press) => pausedMessages.send(press),
    discard_paused: (press) => pausedMessages.discard(press),
  });
  registerMessageButtonListeners(context, {
    send_now: (press) => handlers.sendNow.press(press),
    send_reply: (press) => handlers.unsentReplies.send(press),
    keep_listening: (press) => handlers.unsentReplies.keepListening(press),
    stop_listening: (press) => handlers.unsentReplies.stopListening(press),
  });
  registerSlashCommandListener(
    context,
    {
      new: ({ channel, words, ...request }) => startModal.openNew(request, channel, words),
      status: (command) => listRunningTasks(deps, command),
      stop: (command) => listRunningTasks(deps, command),
      tasks: ({ workspace, channel }) => listChannelTasks(deps, handlers.taskList, workspace, channel),
      settings: (command) => channelSettings.open(command),
    },
    (command, question) => askByCommand(startFormHandler, command, question),
  );
  registerStepsListener(context, (press) => showSteps(deps, press));
  registerFreshLinksListener(context, (press) => showFreshLinks(deps, press));
  registerAccountListeners(context, handlers.workspaceAccount);
  registerFeedbackListeners(context, new AnswerFeedback(deps));
  registerShortcutListeners(context, startModal, (actor, text) => sendDirectMessage(deps, actor, text));
  registerStartFormListeners(context, startFormHandler, startModal);
  registerSettingsListeners(context, channelSettings, handlers.workspaceSettings);
  registerHomeListeners(context, { ...handlers, taskModal });
  registerTaskDetailsListeners(context, taskModal, handlers);
}
