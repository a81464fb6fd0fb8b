import { createHash } from 'node:crypto';
import type { NewBlock, RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { onlyPlainText, withPlainText } from '../../render/messages/answer-text.ts';
import { isSlackFault, PayloadRefusedError } from '../../slack/errors.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';

/** A kind of block that a message can do without, if Slack refuses it. */
export type OptionalBlock = NewBlock | 'image' | 'context_actions';

/** Makes the form of a message that Slack may accept if it refuses a fuller one. */
export type MessageForm = (message: RenderedMessage) => RenderedMessage;

export const asRendered: MessageForm = (message) => message;
const withoutOneNewBlock: MessageForm = (message) => message.simpler?.message ?? message;
/** Without the thumbs (`context_actions`), also in the simpler message that Slack may get instead. */
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
export const textOnly: MessageForm = (message) => ({ ...message, blocks: [] });

/** The forms of a reply's message, the fullest first; all but the last show all of the answer. */
export const REPLY_FORMS: readonly MessageForm[] = [
  asRendered,
  withoutOneNewBlock,
  withoutNewBlocks,
  withKnownBlocks,
  (message) => withoutSources(withKnownBlocks(message)),
  (message) => withPlainText(withKnownBlocks(message)),
  (message) => onlyPlainText(withKnownBlocks(message)),
  textOnly,
];

/** How long a block that Slack refused is left out in the workspace (ms): Slack may introduce it there soon. */
const REFUSAL_MEMORY_MS = 6 * 3_600_000;

/** What forms of messages need; ThreadWork fits. */
interface FormWork {
  deps: Pick<RelayDeps, 'log' | 'onBlockRefused'>;
  workspace: Pick<WorkspaceClient, 'wasThereAfter' | 'blocksLeftOutUntil'>;
}

/**
 * Makes the function that sends a part of a turn in the first of `forms` that Slack takes. The function calls
 * `send` with one form after the other until it throws no PayloadRefusedError; if all are refused, throws the last
 * of these errors. `lastRendered` returns the message before it takes a form: of an edit, what `send` rendered last,
 * which is undefined before the first call, and if nothing was to be shown. Blocks that only the refused form had are left
 * out in the workspace for some hours. `onPicturesRefused` is called if a message is accepted without its pictures.
 */
export function formSender(work: FormWork, turn: { id: string }, onPicturesRefused?: () => void) {
  const { deps, workspace } = work;
  const sendCountingFaults = faultCountingSender(workspace);
  return async <T>(
    part: string,
    forms: readonly MessageForm[],
    lastRendered: () => RenderedMessage | undefined,
    send: (form: MessageForm) => Promise<T>,
  ): Promise<T> => {
    const refusedDigests = new Set<string>();
    let refusedBlocks: OptionalBlock[] = [];
    let refusal: unknown;
    for (const simplify of forms) {
      const form: MessageForm = (message) => simplify(withoutRefusedBlocks(workspace, message));
      const lastInForm = () => {
        const message = lastRendered();
        return message && form(message);
      };
      const toSend = lastInForm();
      // This form changes nothing of what was refused.
      if (toSend !== undefined && refusedDigests.has(messageDigest(toSend))) continue;
      try {
        const value = await sendCountingFaults(part, () => send(form));
        const accepted = lastInForm();
        rememberRefusedBlocks(work, refusedBlocks, accepted);
        if (hasPicture(lastRendered()) && !hasPicture(accepted)) onPicturesRefused?.();
        return value;
      } catch (err) {
        if (!(err instanceof PayloadRefusedError)) throw err;
        deps.log.error({ err, turn: turn.id, part }, 'Slack refused a part of a reply in this form');
        const refused = lastInForm();
        if (refused !== undefined) {
          refusedDigests.add(messageDigest(refused));
          refusedBlocks = optionalBlocks(refused);
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

/** Has the workspace's messages do without the blocks that a refused form had and the accepted one has not. */
function rememberRefusedBlocks(
  { deps, workspace }: FormWork,
  refused: readonly OptionalBlock[],
  accepted: RenderedMessage | undefined,
): void {
  // Nothing was rendered: no edit was needed, or the part is a file.
  if (accepted === undefined) return;
  const kept = optionalBlocks(accepted);
  // A picture is refused for its file, and pictures of other files are not.
  for (const block of refused.filter((one) => one !== 'image' && !kept.includes(one))) {
    workspace.blocksLeftOutUntil.set(block, Date.now() + REFUSAL_MEMORY_MS);
    deps.onBlockRefused?.(block);
  }
}

/** The kinds of blocks that a message can do without: the next one that `simpler` leaves out, and thumbs. */
function optionalBlocks({ simpler, blocks }: RenderedMessage): OptionalBlock[] {
  const thumbs = blocks.flatMap(({ type }) => (type === 'context_actions' ? [type] : []));
  return simpler === undefined ? thumbs : [simpler.without, ...thumbs];
}

/** A message without its next new block and its thumbs, if these are left out in the workspace now. */
function withoutRefusedBlocks({ blocksLeftOutUntil }: FormWork['workspace'], message: RenderedMessage) {
  const isLeftOut = (block: OptionalBlock) => (blocksLeftOutUntil.get(block) ?? 0) > Date.now();
  const { simpler } = message;
  const simplified = simpler !== undefined && isLeftOut(simpler.without) ? simpler.message : message;
  return isLeftOut('context_actions') ? withoutThumbs(simplified) : simplified;
}

/** After so many of Slack's own failures in a row, while other calls succeed, a message counts as refused. */
const MAX_FAULTS = 3;

/**
 * Makes the function that sends a part, and returns what `send` returns. Once a part has failed MAX_FAULTS times in a row,
 * each failure throws a PayloadRefusedError, whose `outcome` says whether Slack may have the part.
 */
function faultCountingSender(workspace: FormWork['workspace']) {
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

const digestCache = new WeakMap<SlackMessage, string>();

/** Identifies what a message shows, so that an edit that changes nothing is not sent. */
export function messageDigest(message: SlackMessage): string {
  const cached = digestCache.get(message);
  if (cached !== undefined) return cached;
  const { text, blocks } = message;
  const digest = textDigest(JSON.stringify({ text, blocks }));
  digestCache.set(message, digest);
  return digest;
}

/** The SHA-256 of a text. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
