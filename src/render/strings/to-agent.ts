/** What the agent reads beside people's own text. */

/** Precedes the new text of a message that was edited after it was sent. */
export const correctionPrefix = 'A correction to my message:';

export const continueMessage = 'Continue.';

/** What the buttons below a plan send. */
export const planAnswers = { go_ahead: 'Go ahead.', stop_here: "Stop here; don't carry out this plan." };

/** What a person chose “Ask the agent about this” for. */
export const messageAskedAbout = 'The message that you asked about';

/** What people said before a message, where none of it can be read. */
export const saidBefore = 'What was said here before';

/** The heading over a channel's standing instructions; `name` is '' if it is unknown. */
export function standingInstructions(name: string, setAt: Date): string {
  const who = name === '' ? '' : ` by ${name}`;
  return `Standing instructions of this Slack channel, not of who writes below (quoted; set${who} on ${setAt.toISOString().slice(0, 10)}):`;
}

export const messageBelow = 'The message:';

/** Stands between what people said before and the question. */
export const questionBelow = 'The question:';

/** The heading over what people said in the thread before; `what` says how much of it. */
export const earlierInThread = (what: string) =>
  `Earlier in this Slack thread (quoted: ${what}; times in UTC):`;

/** The heading over a linked message. `channel` is '' where it is known; `unread` counts the replies that were not read. */
export function linkedMessage(url: string, channel: string, unread: number): string {
  const place = channel === '' ? '' : ` in #${channel}`;
  const left = unread === 0 ? '' : `; replies that were not read: ${unread}`;
  return `The Slack message${place} at <${url}> (quoted${left}; times in UTC):`;
}

/** The heading over the replies to a linked message. */
export const linkedReplies = (what: string) => `The replies to it (quoted: ${what}; times in UTC):`;

/** The text of a message that has only files. */
export const filesOnly = (count: number) =>
  count === 1 ? 'See the attached file.' : 'See the attached files.';

/** Precedes a thread's first message of a second person: what the first one wrote before names nobody. */
export const unnamedWriter = (name: string) =>
  `(In this Slack thread, messages without a writer's name are from ${name}.)`;

/** The heading over links to files that are stored outside Slack. */
export const linkedFiles = (count: number) =>
  count === 1 ? 'A file that was shared as a link:' : 'Files that were shared as links:';

/** The heading over what spreadsheets seem to have altered in the attached tables. */
export const alteredTables = 'Noticed in the attached tables, which are as they were shared:';

/** The heading over the files and linked Slack messages that the agent does not get, each with what its thread says. */
export const leftOut = 'Shared or linked in Slack, but left out:';

/** Precedes the sources that are to be replaced, each with what is wrong with it. */
export const replaceSources =
  'Some sources of your answer above have problems. Please replace or remove each of these:';
