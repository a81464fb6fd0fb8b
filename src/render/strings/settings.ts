import { quotedName } from '../text-format.ts';
import { models } from './commands.ts';
import { withReason } from './turn-errors.ts';

/**
 * The words of each setting of channels and workspaces, by its column: `short` where all is about who may use the agent,
 * options with their descriptions (Slack: 75 characters each).
 */
export const settings = {
  model: { label: 'Model for new tasks', options: models },
  listen_mode: {
    label: "Which replies I read in people's threads",
    short: "Replies in people's threads",
    options: {
      mentions: ['Replies that mention me'],
      conversation: [
        'Replies meant for me',
        'From the person I answered last, until somebody else writes there',
      ],
      replies: ['Every reply, once someone has mentioned me'],
      everything: [
        'Every message in the channel',
        "Each one that isn't for someone else starts a new thread with the agent",
      ],
    },
  },
  allowed_users: {
    label: 'Who may use the agent',
    short: 'People',
    options: {
      members: ['Full members of this workspace'],
      guests: ['Members and guests'],
      everyone: ['Everyone in the channel, including other organisations'],
    },
  },
  allowed_bots: {
    label: 'Bots and workflows that may use the agent',
    short: 'Bots and workflows',
    hint: 'Their ids (B…), separated by commas, or the word none. Leave empty for the default. I answer them only when they mention me.',
    invalid: "These aren't bot ids: each starts with B, as in B0123ABCD; at most 50. Or write none.",
  },
  task_control: {
    label: 'Who may stop and change tasks',
    options: {
      starter: ['The person who started the thread, and admins'],
      channel: ['Every full member in the channel'],
      admins: ['Workspace admins'],
    },
  },
  instructions: {
    label: 'Standing instructions',
    hint: 'The agent reads them before the first message of each new task here, as the words of the channel. Not used when a message runs a skill.',
  },
  prompts: {
    label: 'Prompts to choose from',
    hint: 'One in each line: title | what it does | prompt. A prompt may begin with a skill, such as --skill name.',
    invalid:
      'Each line needs title | what it does | prompt, of at most 75, 75 and 1,000 characters. At most 20, each with its own title.',
  },
  answers_in: {
    label: 'Channels in which I answer',
    short: 'Channels',
    options: {
      invited: ["Every channel that I'm invited to"],
      listed: ['Only the chosen channels'],
      channels: ['Each channel decides', 'In none until people turn it on there with /agent settings'],
    },
  },
  answers_in_channels: {
    label: 'The chosen channels',
    hint: 'Used only with “Only the chosen channels”. Invite me there, too.',
  },
  direct_messages: {
    label: 'Direct messages',
    options: { on: ['I answer direct messages'], off: ["I don't answer direct messages"] },
  },
  group_messages: {
    label: 'Group messages',
    options: { on: ['I answer in group messages'], off: ["I don't answer in group messages"] },
  },
  answers_here: {
    label: 'Whether I answer here',
    options: {
      on: ['I answer here', 'Only where admins leave the choice to channels'],
      off: ["I don't answer here"],
    },
  },
  welcomes: {
    label: "Say how to begin where I'm invited",
    options: {
      on: ['I say it once in each channel'],
      off: ['I say nothing until somebody asks'],
    },
  },
  show_steps: { label: 'Show what the agent does while it works' },
  show_sources: { label: 'List the sources below an answer that names several' },
  send_reminders: {
    label: 'Remind who asked when the agent waits for their answer',
    description: 'One reminder for each question, which I delete once somebody answers',
  },
  sync_project_name: { label: "Keep the project's name and description the same as the channel's" },
  allow_workflow_steps: {
    label: 'Let workflow steps ask the agent',
    description: "This lets in every workflow of the workspace, as Slack doesn't name them",
  },
} as const;

/** In a channel's settings, in place of its prompts. */
export const noPrompts =
  "To have prompts of its own here, ask the app's operator to set SECRET_KEY, which encrypts them.";

/** In a channel's settings, in place of its standing instructions. */
export const noInstructions = {
  key: "To have standing instructions here, ask the app's operator to set SECRET_KEY, which encrypts them.",
  skill:
    "This channel can't have standing instructions, because AGENT_SKILL makes every message run a skill.",
} as const;

/** Below the standing instructions in a channel's settings, in mrkdwn; the text is '' if it cannot be decrypted. */
export function signature({ text, set_by, set_at }: { text: string; set_by: string; set_at: Date }): string {
  const day = localDay(set_at);
  return text === ''
    ? `What <@${set_by}> wrote here on ${day} can't be decrypted, because SECRET_KEY has changed. Please write it again.`
    : `Set by <@${set_by}> on ${day}.`;
}

/** Above a channel's standing instructions in the start form, in mrkdwn. */
export const instructionsSetBy = (channel: string, person: string, setAt: Date) =>
  `Tasks in <#${channel}> begin with these standing instructions, set by <@${person}> on ${localDay(setAt)}, unless you choose a skill:`;

/** Below the reply to the first message of a task; `name` is '' if it is unknown. */
export function withInstructions(name: string, setAt: Date): string {
  const who = name === '' ? '' : ` by ${name}`;
  return `With this channel's standing instructions, set${who} on ${dateOf(setAt)}.`;
}

/** The same, if the message runs a skill. */
export const withoutInstructions =
  "This channel's standing instructions weren't used, because the message runs a skill.";

function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** In mrkdwn: the day in the reader's time zone. */
const localDay = (time: Date) => `<!date^${Math.floor(time.getTime() / 1_000)}^{date_num}|${dateOf(time)}>`;

/** The option that leaves a setting to whoever has set it elsewhere. */
export const settingDefault = 'Default';
/** Below that option: who decides then. */
export const settingDefaultFrom = (origin: keyof typeof settingOrigins) => `As ${settingOrigins[origin]}`;

/** Who has set a value. */
export const settingOrigins = {
  channel: 'set for this channel',
  workspace: 'set for this workspace',
  operator: "set by the app's operator",
  service: 'chosen by the agent service',
} as const;

/** A value and who has set it. */
export interface ValueInForce {
  text: string;
  from: keyof typeof settingOrigins;
}

/** Below a setting: what holds now, and why. */
export const settingInForce = ({ text, from }: ValueInForce) => `Now: ${text} (${settingOrigins[from]}).`;

/** The button below a form with settings. */
export const saveSettings = 'Save';

export const channelSettings = {
  title: 'Channel settings',
  noProject: 'This channel has no project yet: its first task creates one.',
  useProject: 'Use another project',
  useProjectHint:
    'The id of a project at the agent service, or “new” for a new one. New threads use it; existing threads keep theirs.',
  projectTitle: "The project's name",
  description: "The project's description",
  descriptionHint: 'Leave empty for no description.',
  unreadHint: 'Leave empty to keep it unchanged.',
  switches: 'Channel-only settings',
} as const;

/** Who may use the agent in a whole workspace, and where, in App Home. */
export const workspaceSettings = {
  title: 'Who asks, and where',
  about: 'This applies to the whole workspace. Where a channel may choose too, its own settings override it.',
  notAdmin: 'Only admins and owners of this workspace can set who may use the agent, and where.',
} as const;

/** Channels by their names, which Slack shows; of more than `most`, how many are left out. */
export function channelNames(ids: readonly string[], most: number): string {
  const named = ids.slice(0, most).map((id) => `<#${id}>`);
  return [...named, ...(ids.length > most ? [`and ${ids.length - most} more`] : [])].join(', ');
}

/** Where the operator keeps the bot from answering, whatever admins choose; '' if nowhere. */
export function operatorLimits(limits: {
  channels: readonly string[] | undefined;
  directMessages: boolean;
  groupMessages: boolean;
}): string {
  const closed = [
    limits.channels === undefined ? '' : 'outside the listed channels',
    limits.directMessages ? '' : 'in direct messages',
    limits.groupMessages ? '' : 'in group messages',
  ].filter((place) => place !== '');
  if (closed.length === 0) return '';
  const places = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(closed);
  return `The operator doesn't let me answer ${places}, whatever you choose.`;
}

/** A line of a workspace's settings in App Home, in mrkdwn: the label and the value of one. */
export const workspaceSetting = (label: string, { text, from }: ValueInForce) =>
  `• *${label}*: ${text === '' ? 'none' : text} (${settingOrigins[from]})`;

/** Below these lines. */
export const channelsOverride = 'Where a channel may choose too, its own settings override this.';

export const settingsForMembers = "Only full members of this workspace can change a channel's settings.";

export const channelSettingsFailed = {
  unknownProject: "The agent service has no such project, or you can't use it here. Check the id.",
  /** A new name or description; `reason` is what the service said, or ''. */
  rejected: (reason: string) => `The agent service rejected this${withReason(reason)}`,
  lostProject:
    "This channel may no longer use the project that someone chose for it. Enter another one's id, or “new” for one of its own.",
  sharedChannel:
    "People of another organisation may read this channel, so it can't use another channel's project.",
  tooOften: "You've changed settings often in the last hour. Please try again later.",
  late: "The agent service didn't respond in time, so nothing was saved here. Press Save again in a moment.",
  projectNotFound:
    "This channel's project no longer exists at the agent service. Enter the id of another one, or “new”.",
} as const;

/** What a channel is told when a setting is turned on or off there. `who` is a name, or '' if it is unknown. */
export const settingNotices = {
  /** Every message in the channel is read from now on, or no longer. */
  listen_mode: (who: string, isOn: boolean) =>
    isOn
      ? `${who || 'Someone'} asked me to pass every message in this channel to the agent, unless it's for someone else. To undo this, use /agent settings.`
      : `${who || 'Someone'} asked me not to read every message in this channel. Mention me when you need me; I still read every reply in threads whose first message went to the agent.`,
  /** Steps of workflows may ask in the channel from now on, or no longer. */
  allow_workflow_steps: (who: string, isOn: boolean) =>
    isOn
      ? `${who || 'Someone'} let workflow steps ask the agent in this channel. To undo this, use /agent settings.`
      : `${who || 'Someone'} no longer lets workflow steps ask the agent in this channel.`,
} as const;

/** The channel that reads this uses another project, or another channel its own, which stands below. `who`: a name, or ''. */
export function projectUsed(who: string, isHere: boolean): string {
  const actor = who || 'Someone';
  return isHere
    ? `${actor} chose another project for this channel. New threads here share its files. To undo this, use /agent settings.`
    : `${actor} chose this channel's project for another channel too. New threads there share its files:`;
}

/** In a direct message, in mrkdwn: a channel could not be told what the reader did there. */
export const noticeNotPosted = (channel: string, notice: string) =>
  `Slack didn't let me post this in <#${channel}>, so people there may not know it. Please tell them:\n${notice}`;

/** In a channel: its threads and settings stay with its old id. */
export const channelNotMoved =
  "Slack gave this channel a new ID, and I couldn't take its threads, project and settings along. Mention me again in older threads, and check “/agent settings”.";

/** The project of a channel, by its name where that is known. */
export const projectOfChannel = ({ id, title = '' }: { id: string; title?: string | undefined }) =>
  `The project of this channel is ${title === '' ? id : `${quotedName(title, 150)} (${id})`}.`;

/** The workspace's own account at the service: its section in App Home, and the modal that sets it. */
export const account = {
  heading: 'Agent account',
  own: (host: string, person: string, setAt: Date) =>
    `This workspace uses its own account at \`${host}\`, set by <@${person}> on ${localDay(setAt)}.`,
  shared: "This workspace uses the app operator's account. You can set one of its own.",
  lost: (host: string) =>
    `The account's API key for \`${host}\` was deleted when the app was uninstalled, so the agent can't answer here. Set the account again, or remove it.`,
  none: "This workspace has no account yet, so the agent can't answer here.",
  change: 'Change account',
  removeTitle: 'Remove the account?',
  removeText:
    "Conversations that started with it can't continue, unless the same account is set again with a new key.",
  removeYes: 'Remove',
  removeNo: 'Keep it',
  title: 'Agent account',
  submit: 'Test and save',
  address: 'Base address, with its version at the end (…/v1)',
  key: 'API key',
  keyHint: 'I test it once, store it encrypted, and never show it again.',
  aboutChange:
    "With another account, current conversations can't continue. With a new key for the same account at the same address, they can.",
  testing: 'Testing the account. This takes a few seconds.',
  saved: 'The account works and is now in use. New conversations start with it.',
  keyReplaced: 'The new key works and belongs to the same account, so conversations continue.',
  refused: {
    not_admin: 'Only admins and owners of this workspace can set its account.',
    bad_address:
      "This address can't be used: it must be https, at a public address, without a user or a query. Nothing was changed.",
    odd_key:
      "This isn't a valid key: it needs at least 16 characters and no spaces, quotes, braces or backslashes. Nothing was changed.",
    bad_key: 'The service rejected this key. Nothing was changed.',
    no_service:
      'Something other than the agent service answers at this address. Check it, including the version at the end; nothing was changed.',
    unreachable: 'Nothing answers at this address. Nothing was changed.',
    failed: "This didn't work; please try again in a moment. Nothing was changed.",
  },
} as const;
