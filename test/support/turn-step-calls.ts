import type { FaultTarget } from '../../sandbox/chaos/fault-profile.ts';
import type { TurnTrace } from './turn-step-scene.ts';

/** A call that a turn makes at one of its steps. */
export interface TurnStepCall {
  step: string;
  place: FaultTarget;
  /** One name, or several with `|` between them. */
  name: string;
  /** What the call says, where others of that name are made at other steps. */
  says?: string;
  /** So long (ms) that the bot gives the call up, where it does so in a few seconds; else just long. */
  slowMs: number;
}

/** The bot gives a call at Slack up after 5 s, a send and a creation at the service when its lease may end, after 8 s. */
const [slackGivesUp, serviceGivesUp, long] = [6_000, 8_500, 1_500];
const TASKS_PATH = '/experimental/tasks';

/** The steps of a turn with a file and results, by the calls that they make. */
const TURN_STEP_CALLS: readonly TurnStepCall[] = [
  { step: 'first reply', place: 'slack', name: 'chat.postMessage', slowMs: slackGivesUp },
  { step: 'project', place: 'agent', name: 'POST /projects', slowMs: serviceGivesUp },
  { step: 'task', place: 'agent', name: `POST ${TASKS_PATH}`, slowMs: serviceGivesUp },
  { step: 'download', place: 'slack', name: 'files.download', slowMs: long },
  { step: 'upload', place: 'agent', name: 'POST /experimental/files', slowMs: long },
  {
    step: 'end of the upload',
    place: 'agent',
    name: 'POST /experimental/files/{file_id}/finalize',
    slowMs: long,
  },
  { step: 'freezing', place: 'slack', name: 'users.info', slowMs: slackGivesUp },
  { step: 'send', place: 'agent', name: `POST ${TASKS_PATH}/{task_id}/messages`, slowMs: serviceGivesUp },
  {
    step: 'following',
    place: 'agent',
    name: `GET ${TASKS_PATH}/{task_id}/messages/{message_id}`,
    slowMs: long,
  },
  {
    step: 'settling',
    place: 'slack',
    // Where no edit is to be had soon, the end is posted below what stands there.
    name: 'chat.update|chat.postMessage',
    says: '3 steps in',
    slowMs: slackGivesUp,
  },
  { step: 'list of results', place: 'agent', name: `GET ${TASKS_PATH}/{task_id}/results`, slowMs: long },
  {
    step: 'post of results',
    place: 'slack',
    name: 'chat.postMessage',
    says: 'results:0',
    slowMs: slackGivesUp,
  },
];

/** The calls, for two turns of which each meets its faults one after the other, at every other step. */
export const TURN_STEP_GROUPS: readonly (readonly TurnStepCall[])[] = [0, 1].map((group) =>
  TURN_STEP_CALLS.filter((_, index) => index % 2 === group),
);

/** One message with its file, one reply, and its results once. */
export const COMPLETE_TRACE: Omit<TurnTrace, 'faults'> = {
  told: ['as asked'],
  files: [1],
  results: 2,
  begun: 1,
  ended: 1,
  withResults: 1,
  withFiles: 1,
  unsettled: 0,
  others: 0,
};
