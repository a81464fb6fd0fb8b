import { answerFeedback, feedbackSection } from '../features/answer-feedback.ts';
import { HomeTab } from '../features/home-tab.ts';
import { channelNoticeJobs } from '../features/settings/channel-notice.ts';
import { SettingsModal } from '../features/settings/settings-modal.ts';
import { askedAgainJobs } from '../features/start/ask-again.ts';
import { QuestionPoster } from '../features/start/question-delivery.ts';
import { StartForm } from '../features/start/start-form.ts';
import { StartFormSubmissions } from '../features/start/start-form-submission.ts';
import { stepsAndLinksButtons } from '../features/steps-and-fresh-links.ts';
import { listRunningTasks } from '../features/task-commands.ts';
import { TaskRecorder } from '../features/task-details/record-request.ts';
import { TaskDeleter } from '../features/task-details/task-deletion.ts';
import { TaskFileDelivery } from '../features/task-details/task-file-delivery.ts';
import { openTaskModal, taskButtons } from '../features/task-details/task-modal.ts';
import { usageButtons, usageSection } from '../features/usage-report.ts';
import { WorkflowStepHandler } from '../features/workflow-step.ts';
import { WorkspaceAccount } from '../features/workspace-account.ts';
import {
  agentWordHandlers,
  registerShortcuts,
  registerSlashCommand,
} from '../listeners/commands-and-shortcuts.ts';
import { registerButtons, registerForms, registerHomeOpened } from '../listeners/interactions.ts';
import type { SlackApp } from '../listeners/slack-app.ts';
import { onlyWhereAnswered } from '../relay/access/access-policy.ts';
import type { ButtonHandlers, FormHandlers, WorkspaceActor } from '../relay/runtime/control-request.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import type { AppContext } from './storage.ts';
import type { Controls, Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

export type Features = ReturnType<typeof createFeatures>;

/** Builds what people open and set. */
export function createFeatures(
  { config }: AppContext,
  { accounts, oauth, keyring, redactSecret }: Workspaces,
  { deps, jobs }: Turns,
) {
  const updateHome = (actor: WorkspaceActor) => home.show({ ...actor, state: { page: 0, channelPage: 0 } });
  const workspaceAccount = new WorkspaceAccount({
    ...deps,
    keyring,
    redactSecret,
    clientOptions: (id) => accounts.ownAccountOptions(id),
    onChanged: () => accounts.refresh(),
    hasDefaultAccount: config.AGENT_API_KEY !== undefined,
    updateHome,
  });
  const settings = new SettingsModal({
    ...deps,
    isSharedAccount: (account) => oauth !== undefined && account === SETTINGS_ACCOUNT,
    updateHome,
  });
  const home = new HomeTab({
    ...deps,
    adminSections: [
      (id) => settings.buildSection(id),
      (id) => workspaceAccount.buildSection(id),
      (id) => feedbackSection(deps.store, id),
      usageSection,
    ],
    openSettings: (request) => settings.open(request),
    openTask: (triggerId, task) => openTaskModal(deps, triggerId, task),
  });
  const questionPoster = new QuestionPoster(deps, jobs);
  const workflowStep = new WorkflowStepHandler(deps, () => jobs.runDue());
  const taskDeleter = new TaskDeleter(deps, jobs);
  const taskRecorder = new TaskRecorder(deps);
  const kinds = [workflowStep, taskDeleter, taskRecorder].map((feature) => feature.jobs);
  const inOpenPlaces = [questionPoster.jobs, askedAgainJobs(deps)].map((kind) =>
    onlyWhereAnswered(deps, kind),
  );
  for (const kind of [...kinds, ...inOpenPlaces, channelNoticeJobs(deps)]) jobs.add(kind);
  return {
    home,
    workspaceAccount,
    settings,
    workflowStep,
    taskDeleter,
    taskRecorder,
    taskFiles: new TaskFileDelivery(deps),
    startForm: new StartForm(deps),
    startSubmissions: new StartFormSubmissions({ ...deps, questionPoster }),
    feedback: answerFeedback(deps),
  };
}

/** Connects every button, form, word of `/agent` and shortcut to what handles it. */
export function connectFeatures(
  { bolt: app }: SlackApp,
  { deps }: Turns,
  { stopControl, buttons: controlButtons }: Controls,
  features: Features,
): void {
  const { home, startForm, startSubmissions, settings, workspaceAccount } = features;
  const buttons: ButtonHandlers = {
    ...controlButtons,
    ...home.buttons,
    ...workspaceAccount.buttons,
    ...settings.buttons,
    ...usageButtons(deps),
    ...features.feedback.buttons,
    ...startForm.buttons,
    ...stepsAndLinksButtons(deps),
    ...taskButtons(deps, features, (request) => home.show(request)),
    stop: (press) => stopControl.requestStop(press),
    stop_listed: async (press) => {
      const outcome = await stopControl.requestStop(press);
      return { outcome, replacement: await listRunningTasks(deps, press) };
    },
  };
  const forms: FormHandlers = {
    ...startSubmissions.forms,
    ...settings.forms,
    ...workspaceAccount.forms,
    ...features.feedback.forms,
  };
  const context = { app, deps, log: deps.log };
  registerButtons(context, buttons);
  registerForms(context, forms);
  registerSlashCommand(context, agentWordHandlers(deps, features), startSubmissions);
  registerShortcuts(context, startForm);
  registerHomeOpened(context, home);
}
