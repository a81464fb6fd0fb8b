import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { withPlainFeedbackButtons } from '../../render/messages/feedback-buttons.ts';
import { onlyPlainText, withPlainText } from '../../render/messages/plain-text-message.ts';
import { PayloadRefusedError } from '../../slack/errors.ts';
import { messageDigest } from './message-digest.ts';

/** A form of a message that Slack may accept where it refuses another one. */
export type MessageForm = (message: RenderedMessage) => RenderedMessage;

/** The message as it was rendered. */
export const asRendered: MessageForm = (message) => message;
const withFeedbackBlock: MessageForm = (message) => message;
const withPlainFeedback: MessageForm = (message) => withPlainFeedbackButtons(message) ?? message;
/** The message's text, without its blocks. */
export const textOnly: MessageForm = (message) => ({ ...message, blocks: [] });

/** The forms of a reply's message, the fullest first; all but the last show all of the answer. */
export const REPLY_FORMS: readonly MessageForm[] = [
  withFeedbackBlock,
  withPlainFeedback,
  (message) => withPlainText(withPlainFeedback(message)),
  onlyPlainText,
  textOnly,
];

/** Workspaces where Slack refused the block with the feedback thumbs. */
const workspacesWithoutFeedbackBlock = new WeakSet<object>();

/**
 * Sends a message in the first of these forms that Slack accepts; `message` is what `send` sends, as far as it is
 * rendered. `onRefused` gets each refusal; throws the last one.
 */
export async function sendInAcceptedForm<T>(
  workspace: object,
  forms: readonly MessageForm[],
  message: () => RenderedMessage | undefined,
  send: (form: MessageForm) => Promise<T>,
  onRefused: (error: PayloadRefusedError) => void,
): Promise<T> {
  const refused = new Set<string>();
  let refusal: unknown;
  for (const form of forms) {
    if (form === withFeedbackBlock && workspacesWithoutFeedbackBlock.has(workspace)) continue;
    const next = message();
    if (next !== undefined && refused.has(messageDigest(form(next)))) continue;
    try {
      const value = await send(form);
      if (form === withPlainFeedback) workspacesWithoutFeedbackBlock.add(workspace);
      return value;
    } catch (error) {
      if (!(error instanceof PayloadRefusedError)) throw error;
      onRefused(error);
      const sent = message();
      if (sent !== undefined) refused.add(messageDigest(form(sent)));
      refusal = error;
    }
  }
  throw refusal;
}
