import { createHash } from 'node:crypto';
import type { NewBlock, RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { onlyPlainText, withPlainText } from '../../render/messages/answer-text.ts';
import { isSlackFault, PayloadRefusedError } from '../../slack/errors.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';

/** A block without which a message shows the same. */
export type OptionalBlock = NewBlock | 'image' | 'context_actions';

/** A form of a message that Slack may accept where it refuses another one. */
export type MessageForm = (message: RenderedMessage) => RenderedMessage;

/** The message as it was rendered. */
export const asRendered: MessageForm = (message) => message;
const withoutNewBlock: MessageForm = (message) => message.simpler?.message ?? message;
const withoutThumbs: MessageForm = ({ simpler, ...message }) => ({
  ...message,
  blocks: message.blocks.filter(({ type }) => type !== 'context_actions'),
  ...(simpler && { simpler: { ...simpler, message: withoutThumbs(simpler.message) } }),
});
const withoutNewBlocks: MessageForm = (message) =>
  message.simpler === undefined ? message : withoutNewBlocks(message.simpler.message);
const withKnownBlocks: MessageForm = (message) => withoutThumbs(withoutNewBlocks(message));
const withoutSources: MessageForm = (message) => ({
  ...message,
  blocks: message.blocks.filter(({ type }) => type !== 'rich_text'),
});
/** The message's text, without its blocks. */
export const textOnly: MessageForm = (message) => ({ ...message, blocks: [] });

/** The forms of a reply's message, the fullest first; all but the last show all of the answer. */
export const REPLY_FORMS: readonly MessageForm[] = [
  asRendered,
  withoutNewBlock,
  withoutNewBlocks,
  withKnownBlocks,
  (message) => withoutSources(withKnownBlocks(message)),
  (message) => withPlainText(withKnownBlocks(message)),
  (message) => onlyPlainText(withKnownBlocks(message)),
  textOnly,
];

/** How long a block that Slack refused is left out in the workspace (ms): it may be on its way there. */
const REFUSAL_MEMORY_MS = 6 * 3_600_000;

/** What forms of messages need; ThreadWork fits. */
interface FormWork {
  deps: Pick<RelayDeps, 'log' | 'onBlockRefused'>;
  workspace: Pick<WorkspaceClient, 'wasThereAfter' | 'blocksLeftOutUntil'>;
}

/**
 * Sends a turn's messages, each in the first of some forms that Slack accepts, and throws the last refusal if
 * it accepts none. `send` renders the message in the form that it gets; `message` is what it has rendered,
 * before that. If a block was all that Slack refused, that block is left out in the workspace for some hours.
 * `onPicturesRefused` is called if the accepted form shows no picture.
 */
export function formSender(work: FormWork, turn: { id: string }, onPicturesRefused?: () => void) {
  const { deps, workspace } = work;
  const tryPart = faultSender(workspace);
  return async <T>(
    part: string,
    forms: readonly MessageForm[],
    message: () => RenderedMessage | undefined,
    send: (form: MessageForm) => Promise<T>,
  ): Promise<T> => {
    const refused = new Set<string>();
    let refusal: unknown;
    let refusedBlocks: OptionalBlock[] = [];
    for (const simplify of forms) {
      const form: MessageForm = (whole) => simplify(withoutRefusedBlocks(workspace, whole));
      const rendered = () => {
        const whole = message();
        return whole && form(whole);
      };
      // An edit is rendered as it is sent: until then, this is what the attempt before has rendered.
      const candidate = rendered();
      const isSameAsRefused = candidate !== undefined && refused.has(messageDigest(candidate));
      if (isSameAsRefused) continue;
      try {
        const value = await tryPart(part, () => send(form));
        rememberRefusedBlocks(work, refusedBlocks, rendered());
        if (hasPicture(message()) && !hasPicture(rendered())) onPicturesRefused?.();
        return value;
      } catch (err) {
        if (!(err instanceof PayloadRefusedError)) throw err;
        deps.log.error({ err, turn: turn.id, part }, 'Slack refused a part of a reply in this form');
        const sent = rendered();
        if (sent !== undefined) {
          refused.add(messageDigest(sent));
          refusedBlocks = optionalBlocks(sent);
        }
        refusal = err;
      }
    }
    throw refusal;
  };
}

function hasPicture(message: RenderedMessage | undefined): boolean {
  return message?.blocks.some(({ type }) => type === 'image') === true;
}

/** Leaves out, from now on, the blocks that a refused form had and the accepted one has not. */
function rememberRefusedBlocks(
  { deps, workspace }: FormWork,
  refused: readonly OptionalBlock[],
  accepted: RenderedMessage | undefined,
): void {
  if (accepted === undefined) return;
  const left = optionalBlocks(accepted);
  // A picture is refused for its file, and pictures of other files are not.
  for (const block of refused.filter((one) => one !== 'image' && !left.includes(one))) {
    workspace.blocksLeftOutUntil.set(block, Date.now() + REFUSAL_MEMORY_MS);
    deps.onBlockRefused?.(block);
  }
}

/** The blocks that a message has and can do without. */
function optionalBlocks({ simpler, blocks }: RenderedMessage): OptionalBlock[] {
  const thumbs = blocks.flatMap(({ type }) => (type === 'context_actions' ? [type] : []));
  return simpler === undefined ? thumbs : [simpler.without, ...thumbs];
}

/** A message without the blocks that are left out in the workspace now. */
function withoutRefusedBlocks({ blocksLeftOutUntil }: FormWork['workspace'], message: RenderedMessage) {
  const isLeftOut = (block: OptionalBlock) => (blocksLeftOutUntil.get(block) ?? 0) > Date.now();
  const { simpler } = message;
  const known = simpler !== undefined && isLeftOut(simpler.without) ? simpler.message : message;
  return isLeftOut('context_actions') ? withoutThumbs(known) : known;
}

/** Slack's own failures in a row after which a message counts as refused. */
const MAX_FAULTS = 3;

/** Sends parts. Throws PayloadRefusedError if Slack keeps failing at one alone, which may have arrived. */
function faultSender(workspace: FormWork['workspace']) {
  /** Failures in a row by part, and when the first was (`performance.now()`). */
  let faults: Map<string, { times: number; since: number }> | undefined;
  return async <T>(part: string, send: () => Promise<T>): Promise<T> => {
    try {
      const sent = await send();
      faults?.delete(part);
      return sent;
    } catch (cause) {
      if (!isSlackFault(cause)) throw cause;
      faults ??= new Map();
      const { times, since } = faults.get(part) ?? { times: 0, since: performance.now() };
      faults.set(part, { times: times + 1, since });
      if (times + 1 < MAX_FAULTS || !(await workspace.wasThereAfter(since))) throw cause;
      const { method, slackCode, outcome } = cause;
      throw new PayloadRefusedError(
        { method, slackCode, outcome, cause },
        'Slack keeps failing at this message; send a simpler one.',
      );
    }
  };
}

/** Identifies what a message shows, so that an edit that changes nothing is not sent. */
export function messageDigest(message: SlackMessage): string {
  const known = digestCache.get(message);
  if (known !== undefined) return known;
  const { text, blocks } = message;
  const digest = textDigest(JSON.stringify({ text, blocks }));
  digestCache.set(message, digest);
  return digest;
}

const digestCache = new WeakMap<SlackMessage, string>();

/** The SHA-256 of a text. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
