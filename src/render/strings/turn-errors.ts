import { counted, formatDuration, formatSize, quotedName, shorten, toSpacedLine } from '../text-format.ts';
import { modelName, models } from './commands.ts';

/** Why a turn failed, and what to do about it. */

export const taskNotFound =
  'The agent no longer has this conversation; it was probably deleted. Press Try again to start a new one with this message.';
export const accountChanged =
  "This workspace now uses another agent account, so this conversation can't continue. Mention me in a new thread to start again.";
export const projectNotFound =
  "This channel's project no longer exists at the agent service, so I didn't send your message. Choose another one in the channel's settings (`/agent settings`), then press Try again.";
/** Somebody took another channel's project for this one. */
export const projectNotAllowed = {
  outsider:
    "The person who chose this channel's project has lost access to it, so I didn't send your message. Choose a project in the channel's settings (`/agent settings`), then ask in a new thread.",
  shared:
    "This channel uses another channel's project, and another organisation can read here, so I didn't send your message. Choose another one in the channel's settings (`/agent settings`), then ask in a new thread.",
} as const;
/** The service answered 403 for a channel's project, although it accepts the key. */
export const projectForbidden = (id: string) =>
  `The agent service doesn't let this app use this channel's project (${shorten(id, 100)}), so I didn't send your message. Choose another project in the channel's settings (\`/agent settings\`), then press Try again.`;

/** The service rejected a new project, although it accepts the key; `reason` is what it said. */
export const newProjectRefused = (reason: string) =>
  `The agent service doesn't let this app create a project for this channel, so I didn't send your message. Tell your app admin, or choose another project in the channel's settings (\`/agent settings\`). The service said${withReason(reason)}`;

/** The service answered 403 for a thread's task, although it accepts the key. */
export const taskForbidden =
  "The agent service doesn't let this app use this conversation. Mention me in a new thread to start again; if that doesn't help, tell your app admin.";

export const noAccount =
  'This workspace has no account at the agent service yet. A workspace admin can set one: open this app under "Apps" and go to its Home tab.';
export const taskClosed =
  "This conversation can't continue at the agent service, so I didn't send your message. Press Try again to start a new conversation with it.";
export const newConversation =
  "The agent started a new conversation for this message, so it doesn't know what was said earlier in this thread.";
/** The same, where what was said went along. */
export const conversationQuoted =
  'This is a new conversation, and I quoted as much of this thread as fits. Share its files again if the agent needs them.';
export const retriesExhausted =
  'I tried several times and gave up. Your message may or may not have reached the agent; please send it again.';

/** To a message's writer: it was never recorded, and is looked for in Slack later. */
export const messageGivenUp =
  "I couldn't save your message, so the agent doesn't have it. If I don't answer soon, please send it again.";

/** In a thread, or a direct message: it could not be read back after a time without events. */
export const messagesNotRead =
  "I was away for a while and couldn't read everything that was written here. If I haven't answered your message, please send it again.";

/** The service rejected the message; `reason` is what the service said, or ''. */
export const messageRejected = (reason: string) =>
  `The agent service rejected your message${withReason(reason)} Change it and send it again.`;

/** The service failed permanently before it had the message. */
export const serviceFailed =
  "The agent service couldn't accept your message, so it wasn't sent. Try again; if that doesn't help, tell your app admin.";

/** The service created something for the message, and answered so that nobody can read what. */
export const serviceUnreadable =
  "I can't read the agent service's answers, so I didn't send your message. Tell your app admin, and press Try again once it's fixed.";

/** The service has the message, but its answer is invalid; `reason` is what the service said, or ''. */
export const answerUnreadable = (reason: string) =>
  `I can't read the agent's answer${withReason(reason)} The agent has your message and may still be working on it. Tell your app admin before you try again.`;

export const answerTooLarge =
  "The agent's answer is too large for me to read. Continue in a new thread, and ask for long answers as files.";

/** Slack takes no message with the answer. */
export const answerRefused =
  "Slack doesn't accept the agent's answer, so I can't show it here. Ask for it as a file, or in fewer words.";

/** A skill does not exist; a person chose it, or else the app is configured with it. */
export function unknownSkill(name: string, isChosen: boolean): string {
  const next = isChosen ? 'Choose again; your text is kept.' : 'Ask your app admin to change the skill.';
  return `The agent has no skill called ${quotedName(name, 100)}, so I didn't send your message. ${next}`;
}

/** The service rejected a task with the model that a person chose; `reason` is what it said of a model that it documents. */
export function unknownModel(name: string, reason: string): string {
  const known = Object.values(models).map(([known]) => known);
  const said = withReason(Object.hasOwn(models, name) ? reason : '');
  return `The agent service rejected the model ${quotedName(modelName(name), 100)}${said} I didn't send your message: choose again (${known.join(', ')}); your text is kept.`;
}

/** The agent's reply ended with an error of the service. */
export const agentFailed = (reason: string) =>
  `The agent ran into a problem and stopped${withReason(reason)} It has your message; try again or write something else.`;

/** To the asker in a direct message, in mrkdwn: the reply was deleted, or the channel closed. `channel` is Slack's id. */
export const replyUnreachable = (channel: string) =>
  `I stopped the agent in <#${channel}>: my reply was deleted, or I can no longer post there. Mention me again where I can post, and I'll start over.`;

/** Ends a sentence with what another service said, cut to a length that a message can carry. */
export function withReason(reason: string): string {
  const words = shorten(toSpacedLine(reason), 500);
  if (words === '') return '.';
  return `: “${words}”${/[.!?…]$/.test(words) ? '' : '.'}`;
}

/** Who may ask and control the agent, and the quotas. */

/** By who can let the person in: admins alone, or also full members in the channel. */
export const notAllowed = {
  admins:
    "You don't have access to this agent here, so I didn't send your message. A workspace admin can let you in.",
  channel:
    "You don't have access to this agent here, so I didn't send your message. A workspace admin, or a full member in this channel, can let you in.",
} as const;
/** The same, if the person has not asked anything yet. */
export const noAccess = {
  admins: "You don't have access to this agent here. A workspace admin can let you in.",
  channel:
    "You don't have access to this agent here. A workspace admin, or a full member in this channel, can let you in.",
} as const;
export const personUnknown =
  "Slack didn't tell me who you are, so I didn't send your message. Send it again, or ask an admin to install me again.";
export const messageUnread =
  "Slack doesn't let me read your message, so I didn't send it. Please post it again with a mention of me.";
export const repliesUnread =
  "Slack doesn't let me read the replies that came right after your message, so I didn't send them. Please post them again if the agent needs them.";
export const waitingForIdentity =
  "Slack can't tell me who you are right now. Your message is waiting; I'll send it as soon as I know.";
export const sharedChannel =
  'Before I start: this channel is shared with another organisation. People there can read what you ask and what the agent answers, including its files.';

/** Posted once in each channel, and shown in App Home. */
export const automatedNotice =
  "I'm an automated system and can be wrong: check my answers before you rely on them.";

/** Where the bot does not answer, by who decides that. Only the person who asks sees it. */
export const closedPlaces = {
  closed_by_operator:
    "I don't answer here, so nothing goes to the agent. Only the operator of this app can change that.",
  closed_by_admins:
    "I don't answer here, so nothing goes to the agent. An admin of this workspace can change that in my App Home.",
  closed_by_channel:
    "I don't answer here, so nothing goes to the agent. People here can change that with “/agent settings”.",
} as const;

/** Most channels that are named as places to ask. */
const MAX_NAMED_PLACES = 10;

/** In mrkdwn: where people may ask instead; undefined for `channels`: where the bot is invited or turned on; '' if nowhere. */
export function askElsewhere(channels: readonly string[] | undefined, isDirectOpen: boolean): string {
  const named = channels?.slice(0, MAX_NAMED_PLACES).map((id) => `<#${id}>`);
  const places = named ?? ['another channel where I answer'];
  if (isDirectOpen) places.push(places.length === 0 ? 'a direct message to me' : 'in a direct message to me');
  if (places.length === 0) return '';
  return `You can ask in ${new Intl.ListFormat('en', { type: 'disjunction' }).format(places)}.`;
}

/** Why a person may not use a control, or see what belongs to a channel; only they see it. */
export const controlRefused = {
  starter: 'Only the person who started this thread, or a workspace admin, can do that here.',
  admins: 'Only workspace admins can do that here.',
  stranger: 'Only full members of this workspace, or the person who started this thread, can do that here.',
  direct: 'Only the person in this direct conversation with me can do that.',
  outsider: 'Only people in the channel can do that. Join it and try again.',
  hidden:
    "I can't see who is in the channel, so I can't do that for you. If I'm not in it, invite me and try again.",
  unknown:
    "Slack can't tell me right now who you are, or who is in the channel. Try again in a moment, or ask an admin to install me again.",
} as const;

/** A quota is used up; `waitMs` is the time until it has room, rounded up; null if that is when a task ends. `isRefused`: so is a message. */
export function quotaReached(
  excess: {
    limit: 'hourPerson' | 'hourWorkspace' | 'atOncePerson' | 'atOnceWorkspace';
    most: number;
    waitMs: number | null;
  },
  isRefused = true,
): string {
  const { limit, most, waitMs } = excess;
  const count = most === 1 ? 'one message' : `${most} messages`;
  const reached = {
    hourPerson: `You've sent ${count} in the past hour, which is the limit for one person`,
    hourWorkspace: `This workspace has sent ${count} in the past hour, which is its limit`,
    atOncePerson: `The agent is already working on ${count} of yours, which is the limit for one person`,
    atOnceWorkspace: `The agent is already working on ${count} from this workspace, which is its limit`,
  }[limit];
  const when = waitMs === null ? 'when one of them is done' : `in ${formatDuration(waitMs)}`;
  const next = isRefused ? "I didn't send this one: send it again" : 'You can send the next one';
  return `${reached}. ${next} ${when}.`;
}

/** What the hourly quotas still allow a person, by the tighter of both; '' if there are none. */
export function messageAllowance(left: { person?: number; workspace?: number }): string {
  const { person = Number.POSITIVE_INFINITY, workspace = Number.POSITIVE_INFINITY } = left;
  const count = Math.min(person, workspace);
  if (count === Number.POSITIVE_INFINITY) return '';
  const who = person <= workspace ? 'You' : 'People in this workspace';
  return `${who} can send me ${counted(count, 'more message')} this hour.`;
}

/** The largest file that goes to the agent. */
export const fileAllowance = (bytes: number) => `Each file can be up to ${formatSize(bytes)}.`;
