import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files that take longest, as measured on two cores. Those that need much of the cores stand between those that wait. */
const LONGEST_FIRST = [
  'sandbox/chaos/chaos-run',
  'behaviour/sending/slow-service',
  'behaviour/processes/takeover',
  'behaviour/inbox/deaf-connections',
  'behaviour/processes/restart',
  'behaviour/operate/lost-database',
  'relay/turns/dispatcher',
  'behaviour/turns/unreachable-thread',
  'behaviour/accounts/account-form',
  'behaviour/workflow-step',
  'behaviour/files/attachments',
  'sandbox/chaos/broken-bots',
  'behaviour/tasks/task-details',
  'sandbox/fuzz/',
  'behaviour/controls/stop',
  'sandbox/page/conversation',
  'behaviour/replies/overflow-file',
  'postgres/embedded-server',
  'behaviour/start/start-form-failures',
  'setup/connect',
  'behaviour/turns/stop-during-call',
  'sandbox/page/faults-and-crashes',
  'behaviour/replies/results',
  'sandbox/page/',
  'render/messages/reply-corpus',
  'main.test',
  'behaviour/installations/oauth',
  'operate/commands',
];
/** Folders whose files mostly wait; the others only compute. */
const WAITING = /\/test\/(behaviour|operate|sandbox|setup|store)\//;

/**
 * Begins with the longest test files. Then files that wait and files that compute take turns, so that both cores are busy
 * until the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      LONGEST_FIRST.findIndex((name) => moduleId.includes(`/test/${name}`));
    const sorted = await super.sort(files);
    const longest = sorted.filter((file) => place(file) >= 0).sort((one, other) => place(one) - place(other));
    const { waiting = [], computing = [] } = Object.groupBy(
      sorted.filter((file) => place(file) < 0),
      ({ moduleId }) => (WAITING.test(moduleId) ? 'waiting' : 'computing'),
    );
    return [...longest, ...spreadEvenly(waiting, computing)];
  }
}

/** Both lists as one: after any part of it, the same share of each has been. */
function spreadEvenly<T>(...lists: T[][]): T[] {
  return lists
    .flatMap((list) => list.map((item, index) => ({ item, share: (index + 0.5) / list.length })))
    .sort((one, other) => one.share - other.share)
    .map(({ item }) => item);
}
