import { workspaceAccount } from '../features/account-form.ts';
import { listRunningTasks } from '../features/agent-command-answers.ts';
import { answerFeedback, feedbackSection } from '../features/answer-feedback.ts';
import { sourceCheckJobs } from '../features/checked-sources.ts';
import { homeTab } from '../features/home/home-tab.ts';
import { channelNoticeJobs } from '../features/settings/channel-notice.ts';
import { settingsModal } from '../features/settings/settings-modal.ts';
import { askedAgainJobs } from '../features/start/asked-again.ts';
import { questionPosts } from '../features/start/question-post.ts';
import { startForm } from '../features/start/start-form.ts';
import { startSubmissions } from '../features/start/start-form-submission.ts';
import { welcomes } from '../features/start/welcome.ts';
import { stepsAndLinksButtons } from '../features/steps-and-fresh-links.ts';
import { answerFiles } from '../features/task-details/answer-files.ts';
import { archiveButtons, archiveDelivery } from '../features/task-details/archive-delivery.ts';
import { taskRecord } from '../features/task-details/record-request.ts';
import { taskDeletion } from '../features/task-details/task-deletion.ts';
import { taskFileDelivery } from '../features/task-details/task-file-delivery.ts';
import { openTaskModal, taskButtons } from '../features/task-details/task-modal.ts';
import { usageButtons, usageSection } from '../features/usage-report.ts';
import { workflowSteps } from '../features/workflow-step.ts';
import {
  agentWordHandlers,
  registerShortcuts,
  registerSlashCommand,
} from '../listeners/agent-command-and-shortcuts.ts';
import { registerButtons, registerForms } from '../listeners/interactions.ts';
import type { SlackApp } from '../listeners/slack-app.ts';
import { sourceChecker } from '../registries/source-checker.ts';
import { onlyWhereAnswered } from '../relay/access/access-policy.ts';
import type { ButtonHandlers, WorkspaceActor } from '../relay/runtime/control-request.ts';
import { SharedRateLimits } from '../store/slack/shared-rate-limits.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import type { AppContext, Storage } from './storage.ts';
import type { Controls, Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

export type Features = ReturnType<typeof createFeatures>;

/** Builds what people open and set. */
export function createFeatures(
  { config, limits, log }: AppContext,
  { database }: Storage,
  { accounts, oauth, keyring, redactSecret }: Workspaces,
  { deps, jobs }: Turns,
) {
  const updateHome = (actor: WorkspaceActor) => home.show({ ...actor, state: { page: 0, channelPage: 0 } });
  const account = workspaceAccount({
    ...deps,
    keyring,
    redactSecret,
    clientOptions: (id) => accounts.ownAccountOptions(id),
    onChanged: () => accounts.refresh(),
    hasDefaultAccount: config.AGENT_API_KEY !== undefined,
    updateHome,
  });
  const settings = settingsModal({
    ...deps,
    isSharedAccount: (id) => oauth !== undefined && id === SETTINGS_ACCOUNT,
    updateHome,
  });
  const home = homeTab({
    ...deps,
    adminSections: [
      settings.buildSection,
      account.buildSection,
      (id) => feedbackSection(deps.store, id),
      usageSection,
    ],
    openSettings: settings.open,
    openTask: (triggerId, task) => openTaskModal(deps, triggerId, task),
  });
  const runDue = () => jobs.runDue();
  const steps = workflowSteps(deps, runDue);
  const deletion = taskDeletion(deps, runDue);
  const welcome = welcomes(deps, runDue);
  const records = archiveDelivery(deps, taskRecord);
  const archives = { records, files: archiveDelivery(deps, answerFiles) };
  const checker = sourceChecker({
    registries: config.CHECK_SOURCES,
    addresses: limits.registries,
    mailto: config.CHECK_SOURCES_MAILTO,
    gate: new SharedRateLimits(database.kysely),
    log,
  });
  const inOpenPlaces = [questionPosts(deps), askedAgainJobs(deps), sourceCheckJobs(deps, checker)].map(
    (kind) => onlyWhereAnswered(deps, kind),
  );
  const kinds = [
    steps.jobs,
    deletion.jobs,
    records.jobs,
    archives.files.jobs,
    welcome.jobs,
    channelNoticeJobs(deps),
    ...inOpenPlaces,
  ];
  for (const kind of kinds) jobs.add(kind);
  const files = taskFileDelivery(deps);
  return {
    home,
    welcome,
    account,
    settings,
    steps,
    files,
    archives: archiveButtons(deps, archives),
    tasks: taskButtons(deps, files, deletion, records, home.show),
    form: startForm(deps),
    submissions: startSubmissions(deps, runDue),
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
  const { home, account, settings, archives, tasks, form, submissions, feedback } = features;
  const buttons: ButtonHandlers = {
    ...controlButtons,
    ...home.buttons,
    ...account.buttons,
    ...settings.buttons,
    ...usageButtons(deps),
    ...feedback.buttons,
    ...form.buttons,
    ...stepsAndLinksButtons(deps),
    ...archives,
    ...tasks,
    stop: (press) => stopControl.requestStop(press),
    stop_listed: async (press) => {
      const outcome = await stopControl.requestStop(press);
      return { outcome, replacement: listRunningTasks(deps, press) };
    },
  };
  const context = { app, deps, log: deps.log };
  registerButtons(context, buttons);
  registerForms(context, { ...submissions.forms, ...settings.forms, ...account.forms, ...feedback.forms });
  registerSlashCommand(context, agentWordHandlers(deps, form, settings, stopControl), submissions.ask);
  registerShortcuts(context, form);
}
