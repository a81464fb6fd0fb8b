import type { FileLimits } from '../messages/file-lines.ts';
import { formatDuration } from '../text/duration.ts';
import { formatSize } from '../text/file-size.ts';
import { shorten } from '../text/graphemes.ts';
import { quotedName, toOneLine } from '../text/one-line.ts';

/**
 * The sentences that people read in Slack, and those that go to the agent beside their words. What comes from elsewhere
 * (`said`, names) is put in as it is.
 */

export const help = [
  'Hi! Mention me with a question or a piece of work, and I pass it to the agent and show its answer in this thread.',
  'Share files in the same message and the agent reads them. Everything you write in the thread afterwards goes to the agent too; there is no need to mention me again.',
].join('\n');

export const helpInThread = 'I am listening: write what the agent should do next, or share a file.';

export const helpInDm =
  'Hi! Write what you would like the agent to do, and share the files that it should read. Each message here begins a new piece of work; reply in its thread to go on with it.';

export const starting = 'Got it, getting started…';
export const uploading = 'Passing your files to the agent…';
export const queued = 'The agent service has this message; the agent begins on it as soon as it can.';
export const working = 'The agent is working on it…';
export const stopping = 'Stopping…';

/** `who` is a name; empty where it is not known. */
export function stoppingFor(who: string): string {
  return who === '' ? stopping : `${who} asked me to stop. Stopping…`;
}

export const done = 'Done.';
export const background = 'The answer is here; the agent is still working on something in the background.';
export const noAnswer = 'The agent finished without writing anything.';

export const offline =
  'The agent service cannot be reached right now. Nothing is lost: this goes on by itself once it is back.';
export const busy = 'The agent service has a lot to do right now. This goes on by itself in a moment.';
export const badServiceKey =
  'The agent service does not accept the key that this app uses. Somebody who looks after the app has to put in a new one; this goes on by itself then.';
export const storeTrouble =
  'I cannot reach my own database right now. Nothing is lost: this goes on by itself in a moment.';
export const slackTrouble = 'Slack is holding messages back right now. This goes on by itself in a moment.';
export const taskGone =
  'The agent no longer knows this conversation; it was probably deleted there. Press Try again, and it begins anew with this message.';
export const accountChanged =
  'This workspace now uses another account at the agent service, and this conversation belongs to the previous one, so it cannot continue. Mention me in a new thread to begin again.';
export const projectGone =
  "The agent service no longer has the project of this channel, so your message was not sent. Choose another one in the channel's settings (`/agent settings`), then press Try again.";
export const noAccount =
  'This workspace has no account at the agent service yet. An admin of the workspace can set it: open this app under "Apps" and go to its Home tab.';
export const taskTakesNoMore =
  'The agent accepts no more messages in this conversation, because it was stopped or failed. Your message was not sent: press Try again, and the agent begins a new conversation with it.';
export const beganAnew =
  'The agent began a new conversation for this; it does not know what was said before in this thread.';
export const abandoned =
  'I tried several times without success and gave up. Your message may or may not have reached the agent; please send it again.';
export const notAllowed =
  'Sorry, I am not allowed to work for you here, so your message was not sent to the agent. Somebody who looks after the app can change who may ask.';
export const notKnown =
  'Slack did not tell me who you are, so your message was not sent to the agent. Please send it again in a moment.';
export const notKnownYet =
  'Slack cannot tell me right now who you are. Your message waits, and goes to the agent by itself once I know.';
export const sharedChannel =
  'Before I begin: this channel is shared with another organisation. What is asked here and what the agent answers, including its files, can be read there.';
export const lengthReached =
  'The answer became too long for one go. Press Continue and the agent goes on writing.';
export const restInFile = 'The rest of the answer is in the file below.';
export const restTitle = 'The rest of the answer';
export const reviewHeading = 'A review of the work in this thread:';
export const reviewEmpty = 'A review of the work in this thread ended without findings.';
export const restOfReview = 'The rest of the review';
export const reviewCut = 'The review goes on, but it is too long to be posted here.';
export const freshLinksHint = 'Links stop working after a while; the button gets new ones.';
export const linkTooLong = 'link too long for Slack, use the button below';
export const noLink = 'no link';

/** The words on buttons (Slack: 75 characters). */
export const buttons = {
  stop: 'Stop',
  stopNow: 'Stop now',
  continue: 'Continue',
  retry: 'Try again',
  freshLinks: 'Get fresh links',
  correct: 'Send the correction',
  good: '👍',
  bad: '👎',
  comment: 'Add a comment',
  send: 'Send',
  cancel: 'Cancel',
  go: 'Go',
  takeBack: 'Take back',
  open: 'Download',
  steps: 'Steps',
  earlierSteps: 'Earlier steps',
  laterSteps: 'Later steps',
  close: 'Close',
  chooseAgain: 'Choose again',
  newThread: 'Start a new thread',
  details: 'Details',
  refresh: 'Refresh',
  newer: 'Newer',
  older: 'Older',
  channelSettings: 'Channel settings',
  openThread: 'Open thread',
  sendToMe: 'Send to me',
  deleteTask: 'Delete task',
  keepTask: 'Keep it',
  back: 'Back',
  more: 'More',
} as const;

export const editedTooLate =
  'You changed a message that the agent already has. It works with the old words; you can send it the new ones.';
export const deletedTooLate =
  'You deleted a message that the agent already has, and it is still working on it. You can stop it.';

export const channelSettings = {
  title: 'Channel settings',
  save: 'Save',
  cancel: 'Cancel',
  away: 'The settings cannot be read right now. Close this and try again in a moment.',
  noProject: 'This channel has no project yet: it gets one with its first task.',
  useProject: 'Use another project',
  useProjectHint:
    'The id of a project at the agent service. New threads go there; those that have begun stay where they are.',
  projectTitle: "The project's name",
  description: "The project's description",
  descriptionHint: 'Empty: the project has none.',
  unreadHint: 'Empty: it stays as it is.',
  model: 'Model for new tasks',
  listens: 'Which messages are for the agent',
  admits: 'Who may use the agent',
  controls: 'Who may stop and change tasks',
  more: 'Other settings',
} as const;

/** The models of the service's document, each with what is said of it (Slack: 75 characters each). */
export const models = {
  standard: ['Standard', 'Balances speed and capability'],
  fast: ['Fast', 'Answers sooner, with a lighter model'],
  max: ['Max', 'The most capable model'],
} as const;

/** What can be chosen in a channel's settings (Slack: 75 characters each). */
export const channelChoices = {
  model: {
    usual: ["The service's choice", 'What the agent service picks by itself'],
    ...models,
  },
  listens: {
    mentions: ['Those that mention me, and replies in their threads'],
    everything: ['Every message in the channel', 'Each one begins a new thread with the agent'],
  },
  admits: {
    usual: ["The workspace's default"],
    members: ['Full members of this workspace'],
    guests: ['Members and guests'],
    everyone: ['Everyone in the channel, other organisations too'],
  },
  controls: {
    usual: ["The app's default"],
    starter: ['The person who began the thread, and admins'],
    channel: ['Every full member in the channel'],
    admins: ['Admins of the workspace'],
  },
  more: {
    show_steps: ['Show what the agent does while it works'],
    follows_name: ["Keep the project's name and description the same as the channel's"],
  },
} as const;

export const botsLabel = 'Bots and workflows that may use the agent';
export const botsHint =
  'Their ids (B…), separated by commas, or the word none. Empty: as usual. They are answered only where they mention me.';
export const botsOdd =
  'These are not bot ids: each begins with B, as in B0123ABCD; 50 at most. Or write none.';

/** Who may use the agent in a whole workspace, in App Home. */
export const door = {
  heading: 'Who may use the agent',
  change: 'Change who may use it',
  title: 'Who may use the agent',
  about: "This is for the whole workspace. A channel's own settings come first.",
  admits: 'People',
  save: 'Save',
  notAdmin: 'Only admins and owners of this workspace can set who may use the agent.',
} as const;

/** What App Home says of it; `bots` are ids, or none. */
export function doorSays({ people, own, bots }: { people: string; own: boolean; bots: string }): string {
  const whose = own ? 'set for this workspace' : "the app's default";
  return `${people} (${whose}). Bots and workflows: ${bots}. A channel's own settings come first.`;
}

/** The choice of what the whole app's settings say. */
export function doorUsual(people: string): string {
  return `The app's default: ${people.charAt(0).toLowerCase()}${people.slice(1)}`;
}

/** Why a channel's settings are not shown or not saved. */
export const channelSettingsRefused = {
  guest: 'Only full members of this workspace can change the settings of a channel.',
  admins: 'Only admins of the workspace can change the settings of this channel.',
  outsider: 'Only people in the channel can change its settings.',
  absent:
    'I cannot see who is in this channel, so its settings stay closed. If I am not in it, invite me, then try again.',
  unknown: 'Slack cannot tell me who you are right now. Please try again in a moment.',
} as const;

/** Why a channel's settings could not be saved. */
export const channelSettingsFailed = {
  unknownProject: 'The agent service has no such project, or you may not use it here. Check the id.',
  rejected: 'The agent service did not accept this',
  late: 'The agent service did not answer in time, so nothing was saved here. Press Save again in a moment.',
  gone: 'The agent service no longer has the project of this channel. Enter the id of another one.',
} as const;

/** The project that a channel has, by its id. */
export function projectOfChannel(id: string): string {
  return `The project of this channel is ${id}.`;
}

/** The service did not take a new name or description, with its own words where it gave any. */
export function projectRejected(said: string): string {
  return `${channelSettingsFailed.rejected}${withWords(said)}`;
}

export const loading = 'Loading…';
export const windowAway = 'This cannot be read right now. Close it and try again in a moment.';
export const noSteps = 'The agent used no tools for this answer.';
export const stepsAway = 'The steps cannot be read right now. Close this and press Steps again in a moment.';
export const stepsGone = 'The agent service no longer has this answer, so its steps are gone.';
export const stepInput = 'Input';
export const stepOutput = 'Output';
export const stepWithoutOutput = 'No output.';

/** Which steps of how many a page shows. */
export function stepsShown(from: number, to: number, count: number): string {
  return `Steps ${from} to ${to} of ${count}`;
}

/** Why a press changed nothing. */
export const controlOver = {
  over: 'This has already ended; nothing was changed.',
  late: 'That took too long, and Slack no longer opens a window for it. Please press the button again.',
  stopping:
    'The agent has already been asked to stop. If it has not stopped after 10 seconds, ask once more and it is stopped at once.',
  running: 'The agent is working on this now; nothing was changed.',
  unknown: 'I do not know this message any more, so the button does nothing. Write in the thread instead.',
  away: 'The agent service does not answer right now. Please press the button again in a few minutes.',
  gone: 'The agent service no longer has these files.',
} as const;

export const goodLabel = 'Good answer';
export const badLabel = 'Bad answer';
export const feedbackThanks =
  'Thanks for letting us know. You can change your answer by pressing the other thumb.';
export const commentTitle = 'Comment on an answer';
export const commentLabel = 'What was good, what was not?';
export const commentHint = 'The people who look after this app read it; the agent does not.';
export const commentTooLate = 'This answer is too old to comment on. Press a thumb below a newer one.';

/** Said once in each channel, and in App Home. */
export const automated =
  'I am an automated system, and my answers can be wrong: check them before you rely on them.';

/** Why somebody may not use a control; only they read it. */
export const controlRefused = {
  starter: 'Only the person who started this thread, or an admin of the workspace, can do that here.',
  admins: 'Only admins of the workspace can do that here.',
  stranger: 'Only full members of this workspace, or the person who started this thread, can do that here.',
  direct: 'Only the person whose direct conversation with me this is can do that.',
  unknown: 'Slack cannot tell me who you are right now. Please try again in a moment.',
} as const;

/** What became of a stop that was no press on a button; only the person reads it. */
export const signAnswers = {
  ...controlOver,
  nothing: 'There is nothing to stop here: the agent is not working in this thread.',
  withdrawn: 'That message was taken back before it was sent to the agent.',
} as const;

/** Messages wait since `who` (a name, or '') stopped the agent. */
export function held(count: number, who: string): string {
  const since = who === '' ? 'since the agent was stopped' : `since ${who} stopped the agent`;
  return count === 1
    ? `1 message has been waiting here ${since}. Send it to the agent?`
    : `${count} messages have been waiting here ${since}. Send them to the agent?`;
}

/** What waited goes on. */
export function heldGoesOn(count: number, who: string): string {
  return `${who} sent ${messagesOf(count)} on to the agent.`;
}

/** What waited was taken back. */
export function heldTakenBack(count: number, who: string): string {
  return `${who} took ${messagesOf(count)} back. ${count === 1 ? 'It was' : 'They were'} not sent to the agent.`;
}

export const heldEmpty = 'No messages are waiting here any more.';

function messagesOf(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`;
}

/** App Home. */
export const home = {
  title: 'Taskthread',
  about: [
    'Mention me in a channel that I am in, or write to me directly, and I pass it to a biomedical AI agent. Its answer grows in the thread, followed by the files that it makes. Share files in your message and the agent reads them; everything you write in the thread continues the same task.',
    'To use me in another channel, invite me there: type `/invite` and my name. `/agent help` tells what else I can do.',
  ].join('\n'),
  yours: 'Your tasks',
  noneOfYours: 'You have no tasks yet. Mention me in a channel, or write to me under Messages, to begin one.',
  ofChannel: 'Tasks of a channel',
  chooseChannel: 'Choose a channel that you are in to see its tasks.',
  choose: 'Choose a channel',
  noneOfChannel: 'There are no tasks in this channel yet. Mention me there to begin one.',
  outsider:
    'I show the tasks of a channel only to people who are in it, and you are not. Join it and choose it again.',
  hidden:
    'I cannot see who is in this channel, so I do not show its tasks. Invite me there and choose it again.',
  slackAway: 'Slack cannot tell me right now who is in this channel. Press Refresh in a moment.',
  loading: 'Asking the agent service how these tasks stand…',
  stale:
    'The agent service cannot be reached right now: these tasks are as I last knew them. Press Refresh in a moment.',
} as const;

/** Lists and details of tasks. */
export const tasks = {
  untitled: 'Untitled task',
  defaultModel: 'default model',
  direct: 'direct message',
  states: {
    idle: 'waiting for a message',
    running: 'working',
    completed: 'done',
    cancelled: 'stopped',
    failed: 'failed',
    gone: 'no longer at the agent service',
  },
  noneHere: 'There are no tasks in this channel yet. Mention me to begin one.',
  title: 'Task',
  unknown: 'This task is not here any more; it was probably deleted.',
  outsider: 'You are not in the channel of this task, so I cannot show it to you.',
  noSlack:
    'Slack cannot tell me right now whether you are in the channel of this task. Try again in a moment.',
  noFiles: 'This task has no files.',
  filesAway:
    'The agent service cannot be reached right now, so the files are not shown. Try again in a moment.',
  input: 'sent along',
  output: 'made by the agent',
  fileGone: 'A file that the agent service no longer has',
  linkHint: 'Links stop working after a while; open this again for new ones.',
  fileOnItsWay: 'On its way to your direct messages with me. A large file takes a while.',
  fileSent: 'It is in your direct messages with me.',
  fileEmpty: 'This file is empty (0 bytes), and Slack accepts no empty files.',
  deleteTitle: 'Delete this task?',
  deleteText:
    'The agent forgets this conversation for good. Messages in the thread stay in Slack, and the files stay in the project.',
  deleted: 'The task is deleted. Its messages stay in Slack, and its files stay in the project.',
  deletedLater:
    'The agent service cannot be reached right now. The task will be deleted once it is back; its files stay in the project.',
  accountGone:
    'This task belongs to a previous account of this workspace at the agent service, which I cannot reach any more, so I cannot delete it. Ask the owner of that account to delete it there.',
  busy: 'The agent is still working on this task. Stop it first, then delete the task.',
} as const;

/** Posted once into the thread of a task that was deleted; `userId` is Slack's. */
export function taskDeleted(userId: string): string {
  const who = userId === '' ? 'This task was deleted' : `<@${userId}> deleted this task`;
  return `${who}: the agent does not know this conversation any more. The files stay in the project. What you write here next begins a new task.`;
}

/** Posted once into the thread of a task that was to be deleted, and never can be. */
export const taskNotDeleted =
  'The task of this thread was to be deleted, but it belongs to a previous account of this workspace at the agent service, which I cannot reach any more. Ask the owner of that account to delete it there. What you write here next begins a new task.';

/** Posted once into the thread of a task that the service did not delete for a week. */
export const taskStays =
  'The task of this thread was to be deleted, but the agent service has not done so for a week, and I do not try again. Ask whoever runs the agent service to delete it there. What you write here next begins a new task.';

/** The heading over the tasks of a channel; `count` is how many there are. */
export function channelTasks(shown: number, count: number): string {
  if (count === 1) return 'The task of this channel:';
  if (shown === count) return `The ${count} tasks of this channel, newest first:`;
  return `The newest ${shown} of ${count} tasks of this channel; the others are in my App Home:`;
}

/** How old something is (ms). */
export function ago(ms: number): string {
  return ms < 60_000 ? 'just now' : `${formatDuration(ms)} ago`;
}

/** Which rows of how many a page shows. */
export function pageShown(from: number, to: number, count: number): string {
  return from === to ? `${from} of ${count}` : `${from} to ${to} of ${count}`;
}

/** A file could not be brought back; `name` is untrusted. */
export function fileNotSent(name: string): string {
  return `I could not bring you ${quotedName(name, 120)}. Open the task in App Home and try again.`;
}

/** A file is larger than Slack gets from us. */
export function fileTooLarge(sizeBytes: number, mostBytes: number): string {
  return `This file is too large for me (${formatSize(sizeBytes)}; the most is ${formatSize(mostBytes)}).`;
}

/** Told once to somebody who writes below a finished thread of direct messages; `url` leads to that thread. */
export function newTaskInDm(url: string | undefined): string {
  const there = url === undefined ? 'reply in its thread' : `reply <${url}|in its thread>`;
  return `This begins a new task, which knows nothing of the one before. To go on with that one, ${there} instead. I say this only once.`;
}

/** What somebody may ask an agent, at the top of direct messages (Slack: 4 prompts). */
export const prompts = {
  title: 'What should the agent do?',
  list: [
    {
      title: 'Summarise a data file',
      message: 'Summarise the attached table: what is in it, and what stands out?',
    },
    {
      title: 'Review the literature',
      message: 'Review the recent literature on this question, with sources: ',
    },
    {
      title: 'Plan an analysis',
      message: 'Plan an analysis of the attached data that answers this question: ',
    },
    { title: 'Check a result', message: 'Check this result for mistakes and for other explanations: ' },
  ],
} as const;

/** Goes before the new words of a message that was changed after it was sent. */
export const correctionPrefix = 'A correction of my message:';

/** What a Continue button sends to the agent. */
export const continueMessage = 'Continue.';

/** Somebody asks more than one person, or all of the workspace, may; `waitMs`: until there is room, null: when a task ends. */
export function tooMuch(excess: {
  limit: 'hourPerson' | 'hourWorkspace' | 'atOncePerson' | 'atOnceWorkspace';
  most: number;
  waitMs: number | null;
}): string {
  const { limit, most, waitMs } = excess;
  const times = most === 1 ? 'one message' : `${most} messages`;
  const had = {
    hourPerson: `You sent ${times} within an hour, which is as many as one person may send.`,
    hourWorkspace: `This workspace sent ${times} within an hour, which is as many as it may send.`,
    atOncePerson: `The agent is already working on ${times} of yours, the most that one person may have at once.`,
    atOnceWorkspace: `The agent is already working on ${times} of this workspace, the most that it may have at once.`,
  }[limit];
  const when = waitMs === null ? 'when one of them is done' : `in ${formatDuration(Math.max(1_000, waitMs))}`;
  return `${had} This message was not sent to the agent: send it again ${when}.`;
}

/** The service said no to the message, with its own words where it gave any. */
export function rejected(said: string): string {
  return `The agent service did not accept this message${withWords(said)} It was not sent; change it and send it again.`;
}

/** The service failed in a way that does not pass by itself, before it had the message. */
export const notTaken =
  'The agent service could not take this message, so it was not sent. Please try again; if that does not help, tell somebody who looks after the app.';

/** The service has the message, but its answer cannot be read; with its own words where it gave any. */
export function unreadable(said: string): string {
  return `The answer cannot be read from the agent service${withWords(said)} The agent has your message and may still be working on it; you can try again, or tell somebody who looks after the app.`;
}

export const answerTooLarge =
  "The agent's answer is larger than I can read. Go on in a new thread, and ask for long answers as files.";

/** The service knows no skill of this name. */
export function unknownSkill(name: string): string {
  return `The agent has no skill called ${quotedName(name, 100)}. Your message was not sent; somebody who looks after the app has to change the skill.`;
}

/** The service knows no skill of the name that somebody typed. */
export function unknownChosenSkill(name: string): string {
  return `The agent has no skill called ${quotedName(name, 100)}. Your message was not sent: choose again; nothing has to be typed anew.`;
}

/** The service does not take the model that was chosen, with its own words where it gave any. */
export function unknownModel(name: string, said: string): string {
  return `The agent service does not accept the model ${quotedName(name, 100)}${withWords(said)} Your message was not sent: choose again; nothing has to be typed anew.`;
}

export const modelIsFixed =
  'This thread keeps the model that it began with, so I sent your message without the change. Another model needs a new thread.';
export const choicesAreFixed =
  'This thread keeps what was chosen when it began, so I sent your message without the change. A new thread can begin differently.';

/** To the asker directly, in mrkdwn, when the reply was deleted or the channel closed; `channel` is Slack's id. */
export function replyLost(channel: string): string {
  return `I could not go on in <#${channel}>: my reply was deleted there, or I cannot write there any more. So I stopped the agent. Mention me again where I may write, and I begin anew.`;
}

/** The agent's reply ended with the service's error. */
export function failed(said: string): string {
  return `The agent ran into a problem and stopped${withWords(said)} Your message did reach it; you can try again or write something else.`;
}

/** A review failed, with the service's own words where it gave any. */
export function reviewFailed(said: string): string {
  return `A review of the work in this thread failed${withWords(said)} The answer stands as it is.`;
}

/** `who` is a name or a mention; empty where it was stopped elsewhere. */
export function cancelled(who: string): string {
  return who === '' ? 'Stopped.' : `Stopped by ${who}.`;
}

/** Nothing was heard of the agent for this long (ms). */
export function silent(ms: number): string {
  return `Nothing new from the agent for ${formatDuration(ms)}. It may be busy with something long, or waiting for you: you can wait, write to it here, or press Stop.`;
}

/** A message was passed on to a run that was silent; `writer` is a name. */
export function passedOn(writer: string): string {
  return `Passed ${writer}'s message on to the agent.`;
}

/** The service refused a message for a run that is silent. */
export const putBack =
  'The agent accepts no message while it works on this one: the next one waits until this is done. Press Stop to end it.';

/** Of an answer that takes more messages than it may, while it is written: how long it is by now. */
export function restComing(characters: number): string {
  const count = characters < 1_000 ? characters : Math.floor(characters / 1_000) * 1_000;
  return `The answer goes on, with ${count.toLocaleString('en-US')} characters so far. The rest comes as a file when it is done.`;
}

/** How long the turn took (ms). */
export function took(ms: number): string {
  return `Took ${formatDuration(ms)}.`;
}

/** The post at the end that calls the asker back, in mrkdwn; `userId` is Slack's, or undefined in a DM. */
export function askerLine(
  userId: string | undefined,
  outcome: 'done' | 'failed' | 'length',
  ms: number,
): string {
  const what = {
    done: 'the answer is ready',
    failed: 'this did not work',
    length: 'a first part of the answer is ready',
  }[outcome];
  const line = `${what} (it took ${formatDuration(ms)}).`;
  return userId === undefined ? capitalised(line) : `<@${userId}> ${line}`;
}

/** Why a file was left out. */
export type FileReason = keyof typeof FILE_REASONS;

const FILE_REASONS = {
  missing_scope:
    'I am not allowed to read files here. Somebody who looks after the app has to allow it (files:read) and install it again.',
  external:
    'it is stored with another service, where I cannot open it. The agent gets the link; if it needs the contents, share the file itself.',
  deleted: 'it was deleted.',
  hidden_by_plan: "this workspace's plan hides it. Share it again.",
  too_large: 'it is too large.',
  empty: 'it is empty (0 bytes).',
  canvas:
    'it is a canvas, which Slack lets nobody download. Export it (menu ⋯, for example as PDF) and share the export.',
  list: 'it is a list, which Slack lets nobody download. Export it as CSV and share the export.',
  post: 'it is a post, which Slack lets nobody download. Copy its text into a message or a text file.',
  not_a_file: 'it cannot be downloaded. Export it and share the export.',
  access_denied: 'I am not allowed to open it. Share it in this thread.',
  processing: 'Slack is still working on it. Share it again in a moment.',
  broken_off: 'the download broke off. Share it again.',
  changed: 'it changed while I was reading it. Share it again.',
  other_host: 'it is not stored at Slack. Share the file itself.',
  unknown_kind: 'I do not know this kind of file.',
  type_refused: 'files of this type are not passed on here.',
  too_many: 'there are too many files in one message.',
  message_full: 'the files of this message are too large together.',
  download_failed: 'it could not be downloaded. Share it again.',
  service_refused: 'the agent service did not accept it.',
  skipped: 'the agent service could not read it and went on without it.',
  left_behind:
    'it was shared before the account or the project at the agent service changed. Share it again.',
} as const;

/** One line on a file that the agent does not have. An unknown reason reads as a failed download. */
export function fileMissing(file: {
  name: string;
  reason: string;
  /** The service's own words. */
  detail?: string | undefined;
  sizeBytes?: number | undefined;
  /** For the reasons that are a limit. */
  limits?: FileLimits | undefined;
}): string {
  const name = quotedName(file.name, 120);
  const size = file.sizeBytes === undefined ? '' : ` (${formatSize(file.sizeBytes)})`;
  if (file.reason === 'external') return `${name}: ${FILE_REASONS.external}`;
  if (file.reason === 'too_large') {
    return `${name} was left out: it is too large${size}.${most(file.limits?.maxFileBytes)}`;
  }
  if (file.reason === 'service_refused' && file.detail) {
    return `${name} was left out: the agent service did not accept it${withWords(file.detail)}`;
  }
  const why = isFileReason(file.reason) ? FILE_REASONS[file.reason] : FILE_REASONS.download_failed;
  return `${name} was left out: ${why}${limitOf(file.reason, file.limits)}`;
}

function limitOf(reason: string, limits: FileLimits | undefined): string {
  if (limits === undefined) return '';
  if (reason === 'too_many') return ` The most I can take is ${limits.maxMessageFiles}.`;
  if (reason === 'message_full') return most(limits.maxMessageBytes);
  if (reason !== 'type_refused' || limits.allowedTypes.length === 0) return '';
  return ` These are passed on: ${shorten(limits.allowedTypes.join(', '), 200)}.`;
}

function most(bytes: number | undefined): string {
  return bytes === undefined ? '' : ` The most I can take is ${formatSize(bytes)}.`;
}

/** Where a file is on its way to the agent. */
export const fileStates = {
  waiting: 'waiting',
  processing: 'Slack is still working on it',
  elsewhere: 'is on its way for another thread',
  moving: 'on its way',
  passedOn: 'passed on',
} as const;

/** How many of a message's files are over. */
export function passingFiles(done: number, count: number): string {
  return count === 1
    ? 'Passing your file to the agent…'
    : `Passing your files to the agent: ${done} of ${count}`;
}

/** Behind the lines on files that were left out. */
export function wentWithout(count: number): string {
  return count === 1
    ? 'The message went to the agent without it.'
    : 'The message went to the agent without them.';
}

/** Files without words were uploaded and wait for the next message. */
export function filesKept(names: readonly string[]): string {
  const list = shorten(names.map((name) => quotedName(name, 80)).join(', '), 600);
  const it = names.length === 1 ? 'It goes' : 'They go';
  return `I have ${list}. ${it} along with your next message in this thread: write what the agent should do.`;
}

/** None of the files that were shared without words can be passed on. */
export const noFilesKept = 'There is nothing that I could pass on to the agent.';

/** What a message says to the agent whose files are all there is of it. */
export function filesOnly(count: number): string {
  return count === 1 ? 'See the attached file.' : 'See the attached files.';
}

/** The heading of the lines that pass links on to the agent. */
export function linkedFiles(count: number): string {
  return count === 1 ? 'A file that was shared as a link:' : 'Files that were shared as links:';
}

/** A block of the reply that Slack cannot show. */
export function otherBlock(type: string): string {
  return `(The agent also sent something of the kind “${type || 'unknown'}”, which cannot be shown here.)`;
}

/** Below an answer whose results could not be listed. */
export const resultsUnread = 'I could not read which files the agent made for this answer.';

/** Below the names of results that Slack did not take with their links. */
export const linksRefused = 'Slack did not take the links to them.';

/** The heading over results that came after their turn. */
export function laterResults(heading: string): string {
  return `${heading}, made after the answer`;
}

/** The heading over the results. */
export function resultsHeading(count: number, from: number, to: number): string {
  const files = count === 1 ? '1 file' : `${count} files`;
  return from === 1 && to === count ? `${files} from the agent` : `${files} from the agent, ${from} to ${to}`;
}

/** Below the first rows of a table. */
export function tableNote(
  all: { rows: number; columns: number },
  shown: { rows: number; columns: number },
): string {
  const size = `${all.rows} ${all.rows === 1 ? 'row' : 'rows'}, ${all.columns} columns`;
  if (shown.rows === all.rows && shown.columns === all.columns) return size;
  const columns = shown.columns === all.columns ? '' : ` and ${shown.columns} columns`;
  return `${size}; showing the first ${shown.rows} ${shown.rows === 1 ? 'row' : 'rows'}${columns}`;
}

/** "14 steps in 6 min". */
export function stepsDone(steps: number, ms: number): string {
  if (steps === 0) return took(ms);
  return `${steps === 1 ? '1 step' : `${steps} steps`} in ${formatDuration(ms)}`;
}

/** Notes that found no room. */
export function moreNotes(count: number): string {
  return `… and ${count} more.`;
}

/** The form by which a task is begun: titles and buttons have 24 characters, options and their descriptions 75. */
export const form = {
  heading: 'Ask the agent',
  submit: 'Start',
  channel: 'Where',
  channelHint: 'Your question is posted there with your name, and the answer grows in its thread.',
  question: 'What should the agent do?',
  optionalQuestion: 'What should the agent do with it?',
  about: 'About this message:',
  filesAlong: (names: readonly string[]) => `Sent along: ${names.join(', ')}`,
  longQuestion: 'Your question is too long to be shown here. It will be asked again unchanged.',
  title: 'Title',
  titleHint: 'If left empty, it is made from your question.',
  model: 'Model',
  usualModel: ['As usual', 'What this channel or the agent service usually takes'],
  skill: 'Skill',
  skillHint: 'The name or the id of a skill; your question is what it works on.',
  files: 'Files',
  fallback: 'If the model is not available',
  noFallback: 'Do not use another one',
  noFallbackHint: 'The task fails rather than go on with another model.',
  mode: 'How to work',
  usualMode: 'As usual',
  autoMode: 'Go ahead',
  autoModeHint: 'Without asking questions',
  planMode: 'Plan first',
  planModeHint: 'Show a plan, and wait for your approval',
  over: 'This has already been asked again; look further down in the thread.',
  gone: 'I do not know this message any more. Please write your question again.',
  expired:
    'This form was open for too long, and I have forgotten what it was about. What you typed is still here: add what the agent must know.',
  unsure:
    'Slack cannot tell me right now whether I am part of this conversation. Press Start again in a moment.',
  unknown: 'Slack cannot tell me right now whether you are in that channel. Press Start again in a moment.',
  threadTaken:
    'This thread already has its task. Your question starts a new thread in the channel, with the message quoted; to go on with the task, just write in its thread.',
  slow: 'Slack is slow right now. Your question is kept and posted as soon as possible; you can close this.',
  posted: 'Done: your question is in the channel, and the answer grows in its thread.',
  noPlace:
    'I cannot write there: the channel is archived, or only some people may post in it. Choose another one.',
  elsewhere: 'I am not part of that direct conversation. Choose a channel; what you typed is still here.',
  foreign:
    'That direct conversation is not one between you and me. Choose a channel; what you typed is still here.',
  outsider: 'You are not in that channel, so I cannot ask there for you. Choose a channel that you are in.',
  hidden:
    'I cannot see who is in that channel, so I cannot ask there for you. Invite me into it, or type “/agent new” there.',
  refused: 'Slack does not accept this question as it is. Please shorten it.',
} as const;

/** Where the bot is not in a channel; `name` is what the bot is called, where Slack said it. */
export function inviteMe(name: string | undefined): string {
  return `I am not in this conversation yet. Type “/invite @${name ?? 'Taskthread'}” there, then press Start again; what you typed stays here.`;
}

/** To somebody directly, in mrkdwn: a question from a form found no place. */
export function startLost(channel: string, question: string): string {
  return `I could not post your question in <#${channel}>: I am not in that channel, or cannot write there. This is what you asked:\n${question}`;
}

export const asks = 'asks:';
export const asksAbout = 'asks about this message:';

/** What was chosen, in one line below a question; '' where all is as usual. */
export function chosen(
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' },
  files: readonly string[],
): string {
  const { title, model, skill, noFallback, mode } = choices;
  const parts = [
    title === undefined ? '' : quotedName(title, 150),
    model === undefined ? '' : `model ${shorten(model, 60)}`,
    noFallback ? 'no other model' : '',
    skill === undefined ? '' : `skill ${shorten(skill, 100)}`,
    mode === 'auto' ? 'without asking questions' : mode === 'plan' ? 'plan first' : '',
    files.length === 0 ? '' : `with ${shorten(files.map(toOneLine).join(', '), 400)}`,
  ];
  return capitalised(parts.filter((part) => part !== '').join(' · '));
}

/** The command's own help, in mrkdwn. */
export const commandHelp = [
  'Mention me in a channel with a question, and I pass it to the agent and show its answer in the thread. Or:',
  '• `/agent new`: ask with a form, and choose model, skill, title and files',
  '• `/agent status`: what the agent is working on for you in this channel',
  '• `/agent stop`: the same list, with a Stop button for each',
  '• `/agent tasks`: the tasks of this channel',
  '• `/agent settings`: the settings of this channel',
  'You can also choose in a mention: `--model max --skill name --title "A title"` before your question. On any message: “Ask the agent about this”, behind its ⋯.',
].join('\n');

/** What the command answers. */
export const command = {
  nothingRuns: 'The agent is not working on anything for you in this channel.',
  othersRun: (count: number) =>
    count === 1
      ? 'It is working on one task of somebody else here.'
      : `It is working on ${count} tasks of others here.`,
  yours: 'The agent is working for you in this channel:',
  more: 'There are more; these are the newest.',
  stopping: 'stopping',
  untitled: 'Getting started',
  since: (ms: number) => `for ${formatDuration(ms)}`,
  away: 'That did not work just now. Please try again in a moment.',
  late: 'That took too long, and Slack no longer opens a window for it. Please try again.',
} as const;

function isFileReason(reason: string): reason is FileReason {
  return Object.hasOwn(FILE_REASONS, reason);
}

/** The words of another service behind a sentence, cut to what a message can carry. */
function withWords(said: string): string {
  const words = shorten(said.replace(/\s+/g, ' ').trim(), 500);
  if (words === '') return '.';
  return `: “${words}”${/[.!?…]$/.test(words) ? '' : '.'}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The workspace's own account at the service: in the Home tab, and the modal that sets it. */
export const account = {
  heading: 'Account at the agent service',
  own: (host: string, person: string, date: string) =>
    `This workspace uses its own account at \`${host}\`, set by <@${person}> on ${date}.`,
  shared: "This workspace uses the account of this app's operator. You can set one of its own.",
  lost: (host: string) =>
    `The key of this workspace's own account at \`${host}\` went when the app was uninstalled, so the agent cannot answer here. Set the account again, or remove it.`,
  none: 'This workspace has no account yet, so the agent cannot answer here.',
  set: 'Set account',
  change: 'Change account',
  remove: 'Remove account',
  removeSure: 'Remove the account?',
  removeText:
    'Conversations that were begun with it cannot go on, unless the same account is set again with a new key.',
  removeYes: 'Remove',
  removeNo: 'Keep it',
  title: 'Agent account',
  submit: 'Test and save',
  address: 'Base address, with its version at the end (…/v1)',
  key: 'API key',
  keyHint: 'It is tried once, kept encrypted, and never shown again.',
  aboutChange:
    'With another account, conversations that are under way cannot go on; with a new key of the same account at the same address they can.',
  trying: 'The account is being tried. This takes a few seconds.',
  done: 'The account works, and is used from now on. New conversations begin with it.',
  doneSame: 'The new key works, and belongs to the same account: conversations go on.',
  refused: {
    not_admin: 'Only admins and owners of this workspace can set its account.',
    bad_address:
      'This address cannot be used: it must be https, at a public address, without a user or a query. Nothing was changed.',
    odd_key:
      'This is not a valid key: a key has 16 characters or more, without spaces, quotes, braces or backslashes. Nothing was changed.',
    bad_key: 'The service does not accept this key. Nothing was changed.',
    no_service:
      'Something other than the agent service answers at this address: check it, with its version at the end. Nothing was changed.',
    unreachable: 'Nothing answers at this address. Nothing was changed.',
    failed: 'This did not work; please try again in a moment. Nothing was changed.',
  },
} as const;
