import { capitalise, formatDuration, quotedName, shorten, toOneLine } from '../text-format.ts';

/** What a mention without a question gets. */
export const help = [
  'Hi! Mention me with a question, and the agent answers it in this thread.',
  'The agent also reads the files in your message. What you write here next goes to the agent, too; mention me again only if the thread began without me.',
].join('\n');

export const helpInThread = "I'm listening: write what the agent should do next, or share a file.";

export const helpInDm =
  'Hi! Write what the agent should do, and share the files it should read. Each message here starts a new task; to continue one, reply in its thread.';

/** The words that may follow `/agent`, in the order of the help, with what each does. The manifest's hint is made from them. */
export const agentWords = {
  new: 'ask with a form that also takes a title, model, skill and files',
  status: 'what waits for you here, and what the agent is working on for you',
  stop: 'stop what the agent is doing for you',
  tasks: 'the tasks here',
  settings: 'the settings of the channel',
} as const;

/** `/agent help`, in mrkdwn. */
export const commandHelp = [
  'Mention me in a channel with a question, and the agent answers it in the thread. Or:',
  '• `/agent` and your question: ask it in this channel',
  ...Object.entries(agentWords).map(([word, does]) => `• \`/agent ${word}\`: ${does}`),
  'You can also choose in a mention: `--model max --skill name --title "A title"` before your question. On any message: “Ask the agent about this”, behind its ⋯.',
].join('\n');

/** A message begins with a flag that is nearly one of ours. */
export const unknownFlag = ({ typed, meant }: { typed: string; meant: string }) =>
  `I don't know “--${typed}”, so I didn't send your message. If you mean “--${meant}”, send it again with that.`;

/** After a subcommand that does not exist; `word` is escaped. */
export const unknownCommand = (word: string) => `I don't know “/agent ${word}”. ${commandHelp}`;

/** What `/agent` answers. */
export const command = {
  asked: "I'm posting your question here; the agent answers in its thread.",
  otherWords: '`/agent help` lists what else you can write after `/agent`.',
  noneOfYours: "The agent isn't working on anything for you here.",
  othersRunning: (count: number) =>
    count === 1 ? "It's working on one task for someone else." : `It's working on ${count} tasks for others.`,
  waiting: 'Waiting for you:',
  yourTasks: 'The agent is working for you here:',
  inYourThreads: 'It is working for others in threads that you started:',
  elsewhere: 'It is also working for you elsewhere; stop it there:',
  hiddenTask: 'A task that I can only show to people in its channel',
  more: 'There are more; these are the newest.',
  stopping: 'stopping',
  untitled: 'Getting started',
  since: (ms: number) => `for ${formatDuration(ms)}`,
  unavailable: "That didn't work just now. Please try again in a moment.",
  installAgain: 'Slack no longer lets me do that here. Ask an admin to install me again.',
} as const;

/** Sent once to a person who writes below a finished thread of direct messages; `url` leads to that thread. */
export function newTaskInDm(url: string | undefined): string {
  const there = url === undefined ? 'reply in its thread' : `reply <${url}|in its thread>`;
  return `This starts a new task, so the agent doesn't know what was said before. To continue the earlier task, ${there} (I say this only once).`;
}

/** What is offered where nobody has set prompts, and in the order in which it is offered. */
export const prompts = {
  title: 'What should the agent do?',
  list: [
    {
      title: 'Summarise a data file',
      line: 'What is in it, and what stands out',
      prompt: 'Summarise the attached table: what is in it, and what stands out?',
    },
    {
      title: 'Review the literature',
      line: 'On a question of yours, with sources',
      prompt: 'Review the recent literature on this question, with sources: ',
    },
    {
      title: 'Plan an analysis',
      line: 'Of your data, for a question of yours',
      prompt: 'Plan an analysis of the attached data that answers this question: ',
    },
    {
      title: 'Check a result',
      line: 'For mistakes, and for other explanations',
      prompt: 'Check this result for mistakes and for other explanations: ',
    },
  ],
} as const;

/** What is said once in a channel where the bot was invited, and to each person who opens their direct messages with it. */
export const welcome = {
  begin: "Hi! Mention me with a question, and I'll bring the agent's answer into its thread.",
  who: {
    members: 'Full members of this workspace may ask.',
    guests: 'Members and guests of this workspace may ask.',
    everyone: 'Everyone here may ask, including people from other organisations.',
  },
  sent: 'Messages and files in such a thread go to the agent service.',
  everythingSent:
    "Every message here goes to the agent service with its files, unless it's for someone else.",
  direct: 'Hi! Write what the agent should do, or try one of these:',
  directSent: 'Your messages and files here go to the agent service.',
} as const;

/** The models that the service documents, each with a description (Slack: 75 characters each). */
export const models = {
  standard: ['Standard', 'Balances speed and capability'],
  fast: ['Fast', 'Answers sooner, with a lighter model'],
  max: ['Max', 'The most capable model'],
} as const;

/** A model as people read it: one that the service doesn't document as it is. */
export const modelName = (model: string) =>
  Object.entries(models).find(([id]) => id === model)?.[1][0] ?? model;

/** The model of an answer, below it; null: the service's default. */
export const modelInUse = (model: string | null) =>
  model === null ? 'default model' : `${shorten(toOneLine(modelName(model)), 60)} model`;

/** The form that starts a task: titles and buttons have 24 characters, options and their descriptions 75. */
export const startForm = {
  heading: 'Ask the agent',
  submit: 'Start',
  channel: 'Where',
  channelHint: 'I post your question there with your name, and the answer grows in its thread.',
  inThread: 'I post your question in the thread of this message, with your name.',
  question: 'What should the agent do?',
  optionalQuestion: 'What should the agent do with it?',
  about: 'About this message:',
  filesAlong: (names: readonly string[]) => `Sent along: ${names.join(', ')}`,
  longQuestion: "Your question is too long to show here. I'll ask it again unchanged.",
  endMissing:
    "The end of your question doesn't fit in this form. Mention me with all of it, or share it as a file.",
  title: 'Title',
  titleHint: "Leave empty, and I'll make one from your question.",
  model: 'Model',
  defaultModel: ['Default', "The channel's model, or else the agent service's choice"],
  skill: 'Skill',
  skillHint: 'The name or id of a skill. The agent service decides whether it uses it.',
  skillWithoutInstructions: "The channel's standing instructions aren't used with a skill.",
  usedSkill: 'Recently used skill',
  prompt: 'Prompt',
  promptHint: 'It goes before what you write below.',
  promptGone: 'This prompt is no longer offered here. Choose another one, or write your question.',
  files: 'Files',
  filesHint: 'Slack takes at most 10 MB for each file here. Share larger files in the thread.',
  fallback: "If the model isn't available",
  noFallback: "Don't use another model",
  noFallbackHint: 'The task fails instead of continuing with another model.',
  mode: 'How to work',
  defaultMode: 'Default',
  autoMode: 'Without questions',
  autoModeHint: "The agent doesn't ask you anything while it works",
  planMode: 'Plan first',
  planModeHint: 'Show a plan, and wait for your approval',
  alreadyAskedAgain: 'This has already been asked again; look further down in the thread.',
  gone: 'I no longer know this message. Please write your question again.',
  questionGone: "I can't find this question in Slack, so I can't repeat it. Write it again with /agent new.",
  contentForgotten:
    "This form was open too long, and I've forgotten the message it was about. Copy your text, and open the form again.",
  choicesFixed: 'This task keeps the model and options it began with. Take them out of your question.',
  asksAgain: 'Ask this again in a new thread.',
  threadTaken:
    'This thread already has a task, so your question starts a new thread and quotes the message. To continue the existing task, mention me in its thread.',
  empty: 'Please write what the agent should do: I see only choices here.',
  archived: "I can't post there: the channel is archived. Choose another one.",
  foreign: "That direct conversation isn't between you and me. Choose a channel; your text is kept.",
} as const;

/** The bot is not in a conversation; `name` is the bot's name, if known. */
export const inviteMe = (name: string | undefined) =>
  `I'm not in this conversation yet. Type “/invite @${name ?? 'Taskthread'}” in it, then ask me.`;

/** In a direct message, in mrkdwn: a question from the form could not be posted; `reason` is one of `questionRefusals`. */
export const questionNotPosted = (channel: string, reason: string, question: string) =>
  `I couldn't post your question in <#${channel}>: ${reason} This is what you asked:\n${question}`;

export const questionRefusals = {
  invite: "I'm not in that channel. Invite me, then ask again.",
  unreachable: 'the channel is archived or restricts who can post. Ask in another one.',
  refused: "Slack doesn't accept it as it is. Shorten it, then ask again.",
  not_allowed: "you can't ask there any more.",
  gone: 'its thread was deleted. Ask in a new one.',
  given_up: "Slack failed for an hour, or I don't answer there. Ask again, or choose another channel.",
} as const;

export const asks = 'asks:';
/** Between the name of a workflow's step and the person whom it names. */
export const asksFor = 'for';
export const asksAbout = 'asks about this message:';
/** In the thread that the message begins. */
export const asksAboutRoot = "asks about this thread's first message.";

/** In mrkdwn, below a question that was asked before. */
export const askedFirst = (link: string) => `Asked again from <${link}|an earlier thread>.`;

/** In that thread, beside a button that leads to the new one; `who` is a name, or ''. */
export const askedAgain = (who: string) =>
  `${who === '' ? 'This question was asked again' : `${who} asked this question again`} in a new thread.`;

/** The options that were chosen, in one line below a question; '' if all are defaults. */
export function chosenOptions(
  choices: { title?: string; model?: string; skill?: string; noFallback?: boolean; mode?: 'auto' | 'plan' },
  files: readonly string[],
): string {
  const { title, model, skill, noFallback, mode } = choices;
  const parts = [
    title === undefined ? '' : quotedName(title, 150),
    model === undefined ? '' : `model ${shorten(toOneLine(modelName(model)), 60)}`,
    noFallback ? 'no other model' : '',
    skill === undefined ? '' : `skill ${shorten(toOneLine(skill), 100)}`,
    mode === 'auto' ? 'without asking questions' : mode === 'plan' ? 'plan first' : '',
    files.length === 0 ? '' : `with ${shorten(files.map(toOneLine).join(', '), 400)}`,
  ];
  return capitalise(parts.filter((part) => part !== '').join(' · '));
}

/** A step of a Slack workflow that asks the agent. */
export const workflowStep = {
  /** The name of a step without a label. */
  unnamed: 'A workflow',
  /** Why a step failed: Slack shows it to the person who keeps the workflow. */
  failed: {
    not_allowed:
      "This channel doesn't let workflow steps ask the agent. Someone in the channel can allow it with “/agent settings”.",
    limit: "This workspace has reached its limit, so I didn't ask the agent. Run the workflow again later.",
    invalid: 'The step needs a channel and a question.',
    closed:
      "I don't answer in that channel. An admin of this workspace or the operator of this app decides where I do.",
    not_posted:
      "I couldn't post the question: I'm not in that channel, can't post there, or don't answer there.",
    refused: "The question wasn't sent to the agent. Its thread in the channel says why.",
    given_up:
      "I couldn't finish this step. The question may have been asked: look for its thread in the channel before you run the workflow again.",
    outputs: 'Slack refused the outputs of this step: update the app with the newest manifest.',
  },
} as const;
