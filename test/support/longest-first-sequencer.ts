import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The test files that take longest, as measured on two cores: a fresh clone has no times of its own. Those that need much
 * of the cores stand between those that wait.
 */
const LONGEST_FIRST = [
  'sandbox/chaos/chaos-run',
  'behaviour/sending/slow-service',
  'behaviour/processes/takeover',
  'sandbox/demo',
  'behaviour/inbox/deaf-connections',
  'behaviour/processes/restart',
  'behaviour/processes/two-releases',
  'behaviour/processes/jobs',
  'behaviour/operate/lost-database',
  'relay/turns/dispatcher',
  'behaviour/turns/unreachable-thread',
  'behaviour/turns/call-faults',
  'behaviour/turns/doubted-answers',
  'behaviour/inbox/kept-events',
  'behaviour/turns/reminders',
  'behaviour/replies/slack-faults',
  'behaviour/turns/lost-answers',
  'behaviour/accounts/account-form',
  'behaviour/workflow-step',
  'behaviour/files/attachments',
  'behaviour/files/forwarded-messages',
  'behaviour/sending/linked-messages',
  'sandbox/chaos/broken-bots',
  'sandbox/chaos/poison-run',
  'behaviour/tasks/task-details',
  'behaviour/tasks/task-record',
  'sandbox/fuzz/',
  'behaviour/controls/stop',
  'behaviour/direct-messages/interrupted-streams',
  'sandbox/page/conversation',
  'behaviour/replies/overflow-file',
  'postgres/embedded-server',
  'behaviour/start/start-form-failures',
  'setup/connect',
  'behaviour/turns/stop-during-call',
  'behaviour/turns/outages',
  'sandbox/page/faults-and-crashes',
  'behaviour/replies/results',
  'sandbox/page/',
  'render/messages/reply-corpus',
  'main.test',
  'behaviour/installations/oauth',
  'operate/commands',
  'behaviour/replies/reviews',
  'behaviour/home/home-tab',
  'behaviour/sending/mid-run-forwarding',
  'behaviour/operate/long-history',
  'behaviour/channels/moved-and-converted-channels',
  'behaviour/controls/late-stop',
  'behaviour/start/agent-command-and-shortcuts',
  'behaviour/controls/try-again',
  'behaviour/inbox/late-messages',
  'behaviour/replies/plan-and-tables',
  'behaviour/inbox/human-threads',
  'behaviour/accounts/heavy-replies',
  'behaviour/accounts/account-change',
  'behaviour/access/control-permission',
  'behaviour/start/choose-again',
  'behaviour/files/pasted-tables',
  'behaviour/sending/deleted-projects',
  'behaviour/turns/turn-end',
  'behaviour/files/upload-crash',
  'behaviour/replies/edit-limit-reached',
  'behaviour/direct-messages/direct-messages',
  'behaviour/channels/settings-effects',
  'behaviour/installations/slack-connect-and-organisation',
  'behaviour/access/who-may-ask',
  'behaviour/processes/socket-leases',
  'render/splitting/answer-splitter',
  'render/splitting/growing-answer',
  'store/lost-server',
  'slack/contract',
  'behaviour/installations/workspace-isolation',
  'behaviour/turns/conversation',
  'behaviour/inbox/edited-and-deleted-messages',
  'behaviour/channels/channel-project',
  'behaviour/inbox/backfill',
  'behaviour/turns/lagging-service',
  'behaviour/direct-messages/streamed-replies',
  'behaviour/turns/statements',
  'behaviour/operate/metrics-and-readiness',
  'behaviour/access/quotas',
  'behaviour/sending/pass-on',
  'behaviour/channels/settings-form',
  'behaviour/steps/steps-modal',
  'behaviour/controls/waiting-reactions',
  'behaviour/feedback/thumbs-and-comments',
  'slack/directory',
];
/** Folders whose files mostly wait; the others only compute. */
const WAITING = /\/test\/(behaviour|operate|sandbox|setup|store)\//;

/**
 * Begins with the longest test files. From the start, files that wait and files that compute take turns, so that both cores
 * are busy until the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONGEST_FIRST.findIndex((name) => moduleId.includes(`/test/${name}`));
      return found < 0 ? LONGEST_FIRST.length : found;
    };
    const sorted = (await super.sort(files)).sort((one, other) => place(one) - place(other));
    const { waiting = [], computing = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      WAITING.test(moduleId) ? 'waiting' : 'computing',
    );
    return spreadEvenly(waiting, computing);
  }
}

/** Both lists as one: after any part of it, the same share of each has been. */
function spreadEvenly<T>(...lists: T[][]): T[] {
  return lists
    .flatMap((list) => list.map((item, index) => ({ item, share: (index + 0.5) / list.length })))
    .sort((one, other) => one.share - other.share)
    .map(({ item }) => item);
}
