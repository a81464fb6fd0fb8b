import { shorten } from '../text/graphemes.ts';
import { capitalise, quotedName, toOneLine } from '../text/one-line.ts';

/** The models that the service documents, each with a description (Slack: 75 characters each). */
export const models = {
  standard: ['Standard', 'Balances speed and capability'],
  fast: ['Fast', 'Answers sooner, with a lighter model'],
  max: ['Max', 'The most capable model'],
} as const;

/** The form that starts a task: titles and buttons have 24 characters, options and their descriptions 75. */
export const startForm = {
  heading: 'Ask the agent',
  submit: 'Start',
  channel: 'Where',
  channelHint: 'I post your question there with your name, and the answer grows in its thread.',
  question: 'What should the agent do?',
  optionalQuestion: 'What should the agent do with it?',
  about: 'About this message:',
  filesAlong: (names: readonly string[]) => `Sent along: ${names.join(', ')}`,
  longQuestion: "Your question is too long to show here. I'll ask it again unchanged.",
  title: 'Title',
  titleHint: "Leave empty, and I'll make one from your question.",
  model: 'Model',
  defaultModel: ['Default', "The channel's model, or else the agent service's choice"],
  skill: 'Skill',
  skillHint: 'The name or id of a skill. The agent service decides whether it uses it.',
  usedSkill: 'Recently used skill',
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
  contentForgotten:
    "This form was open too long, and I've forgotten the message it was about. Copy your text, and open the form again.",
  unknown: "Slack can't tell me right now whether you're in that channel. Press Start again in a moment.",
  threadTaken:
    'This thread already has a task, so your question starts a new thread in the channel, with the message quoted. To continue the existing task, write in its thread, and mention me there if the thread began without me.',
  slow: "Slack is slow right now. Your question is safe, and I'll post it as soon as I can; you can close this.",
  posted: 'Done: your question is in the channel, and the answer grows in its thread.',
  returned: "I couldn't post your question there. I've sent it back to you as a direct message.",
  cannotPost: "I can't post there: the channel is archived or restricts who can post. Choose another one.",
  foreign: "That direct conversation isn't between you and me. Choose a channel; your text is kept.",
  outsider: "You aren't in that channel, so I can't ask there for you. Choose a channel that you're in.",
  hidden:
    "I can't see who is in that channel, so I can't ask there for you. Invite me to it, or type “/agent new” there.",
  refused: "Slack doesn't accept this question as it is. Please shorten it.",
} as const;

/** The bot is not in a channel; `name` is the bot's name, if known. */
export function inviteMe(name: string | undefined): string {
  return `I'm not in this conversation yet. Type “/invite @${name ?? 'Taskthread'}” there, then press Start again; your text is kept.`;
}

/** In a direct message, in mrkdwn: a question from the form could not be posted. */
export function questionNotPosted(channel: string, question: string): string {
  return `I couldn't post your question in <#${channel}>: I'm not in that channel, or can't post there. This is what you asked:\n${question}`;
}

export const asks = 'asks:';
/** Between the name of a workflow's step and the person whom it names. */
export const asksFor = 'for';
export const asksAbout = 'asks about this message:';

/** The options that were chosen, in one line below a question; '' if all are defaults. */
export function chosenOptions(
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
  return capitalise(parts.filter((part) => part !== '').join(' · '));
}
