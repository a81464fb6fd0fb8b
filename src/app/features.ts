import type { Config } from '../config.ts';
import { feedbackSection } from '../features/answer-feedback.ts';
import { HomeTab } from '../features/home-tab.ts';
import { channelNoticeJobs } from '../features/settings/channel-notice.ts';
import { ChannelSettings } from '../features/settings/channel-settings.ts';
import { WorkspaceSettings } from '../features/settings/workspace-settings.ts';
import { QuestionPoster } from '../features/start/question-poster.ts';
import { StartFormSubmissions } from '../features/start/start-form-submission.ts';
import { TaskDeleter } from '../features/task-details/task-deletion.ts';
import { TaskFileDelivery } from '../features/task-details/task-file-delivery.ts';
import { UsageReport } from '../features/usage-report.ts';
import { WorkflowStepHandler } from '../features/workflow-step.ts';
import { WorkspaceAccount, type WorkspaceAccountDeps } from '../features/workspace-account.ts';
import type { WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import type { JobRunner } from '../relay/runtime/job-runner.ts';
import { TaskList } from '../relay/tasks/task-list.ts';
import type { MessageKey } from '../store/keys.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import { oauthOptions, sharedCredentials } from './options-from-config.ts';

export interface FeatureHooks {
  account: Pick<WorkspaceAccountDeps, 'keyring' | 'redactSecret' | 'clientOptions' | 'onChanged'>;
  onMessageAdded: (message: MessageKey) => void;
  jobs: JobRunner;
}

export type Features = ReturnType<typeof createFeatures>;

/** Builds the features that depend on settings, on each other or on the rest of the app. */
export function createFeatures(deps: RelayDeps, config: Config, hooks: FeatureHooks) {
  const isMultiWorkspace = oauthOptions(config, hooks.account.keyring) !== undefined;
  const updateHome = (actor: WorkspaceActor) => home.show({ ...actor, state: { page: 0, channelPage: 0 } });
  const hasDefaultAccount = sharedCredentials(config) !== undefined;
  const workspaceAccount = new WorkspaceAccount({ ...deps, ...hooks.account, hasDefaultAccount, updateHome });
  const channelSettings = new ChannelSettings({
    ...deps,
    ...hooks,
    isSharedAccount: (account) => isMultiWorkspace && account === SETTINGS_ACCOUNT,
  });
  const workspaceSettings = new WorkspaceSettings(deps, updateHome);
  const taskList = new TaskList(deps);
  const usageReport = new UsageReport(deps);
  const adminSections = [
    workspaceSettings,
    workspaceAccount,
    { buildSection: (workspace: string) => feedbackSection(deps.store, workspace) },
    usageReport,
  ];
  const home = new HomeTab({
    ...deps,
    taskList,
    adminSections,
    openSettings: (request) => channelSettings.open(request),
  });
  const questionPoster = new QuestionPoster(deps, hooks.jobs);
  const workflowStep = new WorkflowStepHandler(deps, () => hooks.jobs.runDue());
  const taskFiles = new TaskFileDelivery(deps);
  const taskDeleter = new TaskDeleter(deps, hooks.jobs);
  return {
    /** What works between people's requests. */
    background: [taskFiles],
    jobKinds: [questionPoster.jobs, workflowStep.jobs, taskDeleter.jobs, channelNoticeJobs(deps)],
    channelSettings,
    workspaceAccount,
    workspaceSettings,
    taskList,
    home,
    usageReport,
    workflowStep,
    startFormHandler: new StartFormSubmissions({ ...deps, ...hooks, questionPoster }),
    taskFiles,
    taskDeleter,
  };
}
