import { quotedName } from '../text/one-line.ts';
import { models } from './start-form.ts';
import { withReason } from './turn-errors.ts';

export const channelSettings = {
  title: 'Channel settings',
  save: 'Save',
  cancel: 'Cancel',
  noProject: 'This channel has no project yet: its first task creates one.',
  useProject: 'Use another project',
  useProjectHint:
    'The id of a project at the agent service. New threads use it; existing threads keep their project.',
  projectTitle: "The project's name",
  description: "The project's description",
  descriptionHint: 'Leave empty for no description.',
  unreadHint: 'Leave empty to keep it unchanged.',
  model: 'Model for new tasks',
  listens: "Which replies I read in people's threads",
  admits: 'Who may use the agent',
  controls: 'Who may stop and change tasks',
  more: 'Channel-only settings',
} as const;

/** The options of a channel's settings (Slack: 75 characters each). */
export const channelChoices = {
  model: {
    usual: ['Default', 'The agent service chooses'],
    ...models,
  },
  listens: {
    usual: ['Default', "The workspace's setting"],
    mentions: ['Replies that mention me'],
    conversation: [
      'Replies meant for me',
      'You asked me there, and nobody else has written since I answered',
    ],
    replies: ['Every reply, once someone has mentioned me'],
    everything: [
      'Every message in the channel',
      'Each one that is for nobody else starts a new thread with the agent',
    ],
  },
  admits: {
    usual: ['Default', "The workspace's setting"],
    members: ['Full members of this workspace'],
    guests: ['Members and guests'],
    everyone: ['Everyone in the channel, including other organisations'],
  },
  controls: {
    usual: ['Default', "The app's setting"],
    starter: ['The person who started the thread, and admins'],
    channel: ['Every full member in the channel'],
    admins: ['Workspace admins'],
  },
  more: {
    show_steps: ['Show what the agent does while it works'],
    follows_name: ["Keep the project's name and description the same as the channel's"],
    allows_steps: [
      'Let workflow steps ask the agent',
      'Slack names no workflow: this lets in every workflow of the workspace',
    ],
  },
} as const;

export const botsLabel = 'Bots and workflows that may use the agent';
export const botsHint =
  'Their ids (B…), separated by commas, or the word none. Leave empty for the default. I answer them only when they mention me.';
export const botsInvalid =
  "These aren't bot ids: each starts with B, as in B0123ABCD; at most 50. Or write none.";

export const channelSettingsRefused = {
  guest: "Only full members of this workspace can change a channel's settings.",
  admins: "Only workspace admins can change this channel's settings.",
  outsider: 'Only people in the channel can change its settings.',
  absent:
    "I can't see who is in this channel, so I can't show its settings. If I'm not in it, invite me and try again.",
  unknown: "Slack can't tell me who you are right now. Please try again in a moment.",
} as const;

export const channelSettingsFailed = {
  unknownProject: "The agent service has no such project, or you can't use it here. Check the id.",
  rejected: 'The agent service rejected this',
  late: "The agent service didn't respond in time, so nothing was saved here. Press Save again in a moment.",
  projectNotFound:
    "This channel's project no longer exists at the agent service. Enter the id of another one.",
} as const;

/** Every message in the channel is read from now on, or no longer. `who` is a name, or '' if it is unknown. */
export function everyMessageNotice(who: string, isOn: boolean): string {
  return isOn
    ? `${who || 'Someone'} asked me to read every message in this channel: each one that is for nobody else goes to the agent. To undo this, use /agent settings.`
    : `${who || 'Someone'} asked me not to read every message in this channel. Mention me when you need me; I still read every reply in threads whose first message went to the agent.`;
}

/** Steps of workflows may ask in the channel from now on, or no longer. `who` is a name, or '' if it is unknown. */
export function workflowStepsNotice(who: string, isOn: boolean): string {
  return isOn
    ? `${who || 'Someone'} let workflow steps ask the agent in this channel. To undo this, use /agent settings.`
    : `${who || 'Someone'} no longer lets workflow steps ask the agent in this channel.`;
}

/** In a direct message, in mrkdwn: the channel could not be told of the settings that the reader changed there. */
export function noticeNotPosted(channel: string, notice: string): string {
  return `Slack didn't let me post this in <#${channel}> for a day, so people there may not know it. Please tell them:\n${notice}`;
}

/** In a channel: its threads and settings stay with its old id. */
export const channelNotMoved =
  "Slack gave this channel a new ID, and I couldn't take its threads, project and settings along. Mention me again in older threads, and check “/agent settings”.";

/** The project of a channel, by its name where that is known. */
export function projectOfChannel({ id, title = '' }: { id: string; title?: string | undefined }): string {
  return `The project of this channel is ${title === '' ? id : `${quotedName(title, 150)} (${id})`}.`;
}

/** The service rejected a new name or description; `reason` is what the service said, or ''. */
export function projectRejected(reason: string): string {
  return `${channelSettingsFailed.rejected}${withReason(reason)}`;
}
