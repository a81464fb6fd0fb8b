import { capitalise, counted, formatDuration } from '../text-format.ts';
import { agentFailed } from './turn-errors.ts';

/** What a reply says while a step waits, by what it waits for. */
export const waits = {
  service_unreachable: "I can't reach the agent service right now.",
  service_busy: 'The agent service is very busy right now.',
  service_key: "This app's API key for the agent service doesn't work. Ask your app admin to update it.",
  slack: 'Slack is limiting my messages right now.',
  file: "I can't fetch your file from Slack right now.",
  store: "I can't reach my database right now.",
} as const;
/** Follows, unless somebody has asked to stop. */
export const waitEnds = "Your message is safe, and I'll continue automatically.";

/** What a reply says in each phase of its turn, unless there is a better sentence. */
export const phases = {
  starting: 'Got it, getting started…',
  uploading: 'Sending your files to the agent…',
  queued: 'The agent service has your message; the agent starts as soon as it can.',
  working: 'The agent is working on it…',
  stopping: 'Stopping…',
  done: '',
  cancelled: 'Stopped.',
  failed: agentFailed(''),
  length: 'The answer reached its length limit. Press Continue and the agent will keep writing.',
  delayed: waits.service_busy,
} as const;

/** `who` is a name; empty if it is unknown. */
export const stoppingFor = (who: string) =>
  who === '' ? phases.stopping : `${who} asked me to stop. Stopping…`;

/** `who` is a name or a mention; empty if the task was stopped elsewhere. */
export const stopped = (who: string) => (who === '' ? phases.cancelled : `Stopped by ${who}.`);

export const backgroundWork = "Here's the answer; the agent is still working on something in the background.";
/** What a thread says of work that goes on after the answer, from the end of the turn until the work has ended. */
export const backgroundNotices = {
  working:
    'The agent is still working on something in the background. New files and reviews follow in this thread, and this line changes when the work ends.',
  stopping: 'Stopping the work in the background…',
  completed: 'The agent has finished its work in the background.',
  failed: "The agent's work in the background failed. Write to it here to find out what is missing.",
  cancelled: 'The work in the background was stopped.',
  superseded:
    'The agent went on to a later message, so I stopped following its work in the background. Write to it here to find out how it went.',
  unwatched:
    'The agent was still working in the background when I last checked, and I no longer watch it. Write to it here to find out how it went.',
} as const;
export const emptyAnswer = 'The agent finished without writing anything.';
export const finishedUnstopped = 'The agent finished this answer although it was asked to stop.';
export const answerNeverEnded =
  'The agent service ended the task before this answer was complete. Parts may be missing.';
/** The agent has sent nothing for this long (ms). */
export const agentSilent = (ms: number) =>
  `No news from the agent for ${formatDuration(ms)}. It may be busy or waiting for you: you can wait, write to it here, or press Stop.`;

/** The agent's last words are a question. */
export const agentAsks = 'The agent asks you something. Write your answer here, or press Stop.';

/** Below a finished answer whose last words are a question. */
export const answerAsks = 'The agent asks you something. Write your answer here.';

/** Posted where nobody has answered the agent, in mrkdwn; `userId` is undefined in a DM. */
export function reminder(userId: string | undefined, isPlan: boolean): string {
  const line = isPlan
    ? "the agent's plan is waiting for your answer."
    : 'the agent is waiting for your answer.';
  return userId === undefined ? capitalise(line) : `<@${userId}>, ${line}`;
}

/** `writer` is a name. */
export const messagePassedOn = (writer: string) => `Passed on: the agent has ${writer}'s message now.`;

/** The service does not accept a message while its run is silent. */
export const messageWaits =
  "The agent can't read the next message until it's done with this one. Press Stop to end this one now.";

/** In a thread where several people ask; `names` are those whose questions the reply answers. */
export const inAnswerTo = (names: readonly string[]) =>
  `Replying to ${new Intl.ListFormat('en-GB').format(names)}`;

/** "14 steps in 6 min", or "Took 6 min". */
export function stepsDone(steps: number, ms: number): string {
  if (steps === 0) return `Took ${formatDuration(ms)}`;
  return `${counted(steps, 'step')} in ${formatDuration(ms)}`;
}

/** Stands for the first steps of a long run. */
export function earlierSteps(count: number, failed: number): string {
  const steps = counted(count, 'earlier step');
  return failed === 0 ? steps : `${steps}, ${failed} failed`;
}

/** Stands for the notes that did not fit. */
export const moreNotes = (count: number) => `… and ${count} more.`;

/** The post at the end, or that of work in the background, that mentions the asker, in mrkdwn; `userId` is undefined in a DM. */
export function endMention(
  userId: string | undefined,
  outcome: 'done' | 'asks' | 'failed' | 'length' | 'cancelled' | 'workDone' | 'workFailed',
  ms: number,
): string {
  const what = {
    done: 'the answer is ready',
    asks: 'the answer is ready and ends with a question',
    failed: "this didn't work",
    length: 'the first part of the answer is ready',
    cancelled: 'the agent was stopped',
    workDone: "the agent's work in the background is done",
    workFailed: "the agent's work in the background failed",
  }[outcome];
  const line = `${what} (${outcome === 'cancelled' ? 'after' : 'it took'} ${formatDuration(ms)}).`;
  return userId === undefined ? capitalise(line) : `<@${userId}>, ${line}`;
}
