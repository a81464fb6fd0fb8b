import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files that take longest, as measured on two cores, then folders whose files mostly wait. */
const LONGEST_FIRST = [
  'behaviour/sending/slow-service',
  'sandbox/chaos/chaos-run',
  'sandbox/chaos/broken-bots',
  'behaviour/processes/takeover',
  'behaviour/tasks/task-details',
  'behaviour/replies/results',
  'behaviour/files/attachments',
  'render/splitting/growing-answer',
  'postgres/embedded-server',
  'sandbox/fuzz/',
  'relay/turns/dispatcher',
  'behaviour/accounts/account-form',
  'behaviour/controls/stop',
  'behaviour/start/start-form-failures',
  'sandbox/page/',
  'render/splitting/answer-splitter',
  'main.test',
  'behaviour/start/agent-command',
  'behaviour/turns/stop-during-call',
  'behaviour/controls/late-stop',
  'behaviour/turns/',
  'behaviour/processes/',
  'behaviour/',
  'sandbox/',
];

/** Begins with the long test files, so that those that only compute fill up the rest of the time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST_FIRST.findIndex((name) => moduleId.includes(`/test/${name}`));
      return at < 0 ? LONGEST_FIRST.length : at;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}
