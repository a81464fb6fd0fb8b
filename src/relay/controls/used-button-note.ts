import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ShownMessage, withButtonUsed } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { ButtonClaim, Message, Turn, TurnId } from '../../store/schema.ts';
import { hasSettled } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { actorName } from '../reading/display-names.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { compareTs } from '../runtime/incoming-message.ts';

/** How often (ms), and how many times at most, it is checked whether the message that a button made still waits. */
const LOOK_INTERVAL_MS = 500;
const MAX_LOOKS = 20;

/** A message of ours as Slack gives it back, with all of its blocks: else it does not parse. */
export const shownMessageSchema = z.looseObject({
  text: z.string().catch(''),
  blocks: z.array(z.looseObject({ type: z.string(), elements: z.array(z.looseObject({})).optional() })),
});

/** Our message with buttons that work once. */
interface UsedMessage {
  ts: string;
  claim: ButtonClaim;
  /** What it shows, if that need not be read from Slack. */
  shown?: ShownMessage | undefined;
  /** Says why it is too late, if nobody has used a button. */
  whyLate?: string | undefined;
}

/**
 * Takes the buttons from a message, which then says who used one or why it is too late. First waits, for 10 s at most, until
 * the message that the button made is surely not refused. Leaves a reply alone that still grows, because its turn shows the
 * use. Throws a SlackError.
 */
export async function showButtonUse(
  deps: RelayDeps,
  turn: Turn,
  { ts, claim, shown, whyLate }: UsedMessage,
): Promise<void> {
  // While the button's message waits, it may be refused over its writer's quota, which gives the button back.
  const mayBeRefused = async () => (await pressedMessageOf(deps, turn, claim))?.message?.state === 'waiting';
  for (let looks = 0; looks < MAX_LOOKS && (await mayBeRefused()); looks += 1)
    await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
  const latest = await deps.store.turns.get(turn.workspace, turn.id);
  if (latest === undefined || !hasSettled(latest)) return;
  const { channel, thread_ts: threadTs } = turn;
  const readShown = async () => deps.workspace(turn.workspace)?.readBack.message({ channel, threadTs, ts });
  const message = shown ?? shownMessageSchema.safeParse(await readShown()).data;
  if (message === undefined) return;
  const render = async () => {
    const use = (await buttonUse(deps, turn, claim)) ?? whyLate;
    return use === undefined ? undefined : withButtonUsed(message, use);
  };
  await deps.workspace(turn.workspace)?.posting.editComplete({ channel, ts, render });
}

/** Takes "Choose again" from a turn's last message, which says who used it. Throws a SlackError. */
export async function showAskedAgain(deps: RelayDeps, turn: Turn): Promise<void> {
  const posts = [...(await deps.store.posts.ofTurn(turn)).values()];
  // The messages of the turn's reply that Slack has. `replyPart` names their parts.
  const replyTs = posts.flatMap(({ part, ts }) => (part.startsWith('reply:') && ts !== null ? [ts] : []));
  const last = replyTs.toSorted(compareTs).at(-1);
  if (last !== undefined) await showButtonUse(deps, turn, { ts: last, claim: 'button_message_ts' });
}

/** The sentence that says who used which of a turn's buttons that work once; undefined if nobody has. */
export async function buttonUse(
  deps: RelayDeps,
  turn: TurnId,
  claim: ButtonClaim = 'button_message_ts',
): Promise<string | undefined> {
  const use = await pressedMessageOf(deps, turn, claim);
  if (use === undefined) return undefined;
  const who = await actorName(deps, { workspace: turn.workspace, person: use.message?.user_id ?? '' });
  return strings.buttonUsed(who, claim === 'sources_message_ts' ? 'replace_sources' : buttonOf(use.message));
}

/** Undefined if nobody has used a turn's button; else the `message` that the button made, if it is kept. */
async function pressedMessageOf({ store }: RelayDeps, { workspace, id }: TurnId, claim: ButtonClaim) {
  const turn = await store.turns.get(workspace, id);
  const ts = turn?.[claim];
  return turn && ts ? { message: await store.messages.get({ ...messageKeyOf(turn), ts }) } : undefined;
}

/** Which button made a message, as far as its text is still known. */
function buttonOf(message: Message | undefined): keyof typeof strings.buttonUses {
  if (message?.resends_turn_id != null) return 'retry';
  // **Send the correction** revises a turn, too, but its press is not claimed: no note asks for it here.
  if (message?.revises_turn_id != null) return 'choose_again';
  const text = message?.content?.text;
  if (text === strings.continueMessage) return 'continue';
  if (text === strings.planAnswers.go_ahead) return 'go_ahead';
  return text === strings.planAnswers.stop_here ? 'stop_here' : 'unknown';
}
