import { counted } from '../text-format.ts';
import { buttons } from './buttons.ts';
/** Why a press on a button had no effect. */
export const controlFailed = {
  over: 'This has already ended, so nothing changed.',
  late: "That took too long, and Slack can't open the window any more. Please try again.",
  stopping:
    "The agent has already been asked to stop. If it's still running after 10 seconds, ask again to stop it at once.",
  unknown: "I no longer know this message, so its buttons don't work. Write in the thread instead.",
} as const;

/** What somebody did with a button that works once: one of those below a reply, or the one below its sources. */
export const buttonUses = {
  go_ahead: 'Approved',
  stop_here: 'Stopped here',
  continue: 'Continued',
  retry: 'Tried again',
  choose_again: 'Asked again',
  replace_sources: 'Replacement requested',
  unknown: 'Answered',
} as const;

/** `who` is a name, or '' if it is unknown. */
export const buttonUsed = (who: string, use: keyof typeof buttonUses) =>
  who === '' ? `${buttonUses[use]}.` : `${buttonUses[use]} by ${who}.`;

export const answeredInThread = 'Someone has written to the agent here meanwhile.';
export const questionDeleted = 'The question was deleted.';

/** A press came second; `what` says what happened before. */
export const pressedTooLate = (what: string) => `${what} Your press came later, so nothing changed.`;

/** The outcome of a stop that was no press on a button; only the person sees it. */
export const stopTriggerReplies = {
  ...controlFailed,
  nothing: "There's nothing to stop here: the agent isn't working in this thread.",
  withdrawn: 'I withdrew that message before it reached the agent.',
} as const;

/** The note on a message that waits behind a running turn. Slack lets nobody change it after a stop. */
export const messageQueued =
  "The agent is still working. It'll read this when it's done. If somebody stops it, your message waits.";
/** In place of that note, once its writer has pressed **Send now**. */
export const passingOn = (count: number) =>
  `I'm passing your ${count === 1 ? 'message' : `${count} messages`} on to the agent.`;
/** In place of it, once its writer has had the agent stopped for it. */
export const sendingInstead = "I'm stopping the agent. It gets your message next.";
/** The service refused it for now. */
export const notPassedOn = "The agent can't take messages right now. I'll send yours when it's done.";

/** A message is paused; `who` is the name of the person who stopped the agent, or ''. */
export const waitsBehindStop = (who: string) =>
  `${who || 'Someone'} stopped the agent here, so your message waits. Press ${buttons.send_paused.label} or ${buttons.discard_paused.label} in this thread.`;

/** A press came after the message had left; `state` is what became of it. */
export function sendNowTooLate(state: string): string {
  if (state === 'withdrawn') return "That message was deleted, so there's nothing to send.";
  if (state === 'refused') return "I didn't send this message. My other note to you says why.";
  return state === 'closed'
    ? "I couldn't send this message to the agent. Please write it again."
    : 'The agent has your message.';
}

/** The note on a reply in a thread that people began. */
export const replyNotSent = "I didn't send this reply to the agent, because you didn't mention me.";
/** In its place, once its writer has pressed a button of it. */
export const sendingReply = "I'm sending your reply to the agent.";

/** `who` is a name, or '' if it is unknown. */
export const listening = (who: string) =>
  `${who || 'Someone'} asked me to read every reply in this thread. To undo this, press the button.`;

/** `who` is a name, or '' if it is unknown. */
export const listeningEnded = (who: string) =>
  `${who || 'Someone'} asked me not to read every reply here. Mention me when you need me.`;

export const editedAfterSending = 'The agent is working with the old version. Send the new one?';
export const editedAfterEnd = 'The agent no longer works on the old version. Send the new one?';
export const deletedAfterSending = 'Your message was deleted, but the agent is working on it. Stop it?';
export const optionsFixed =
  'This thread keeps the model and options it started with, so I sent your message without the change. To use others, start a new thread.';

/** Stands above buttons that send or discard them. */
export const messagesPaused = (count: number) =>
  count === 1 ? '1 message is waiting.' : `${count} messages are waiting.`;

export const pausedSent = (count: number, who: string) =>
  `${who} sent ${counted(count, 'message')} to the agent.`;

export const pausedDiscarded = (count: number, who: string) =>
  `${who} discarded ${counted(count, 'message')}; the agent won't see ${count === 1 ? 'it' : 'them'}.`;

export const nothingPaused = 'No messages are waiting here any more.';
