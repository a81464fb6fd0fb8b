import { setTimeout as sleep } from 'node:timers/promises';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey } from '../../store/schema.ts';
import type { PressAnswer } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { noteIfPaused } from './paused-messages.ts';

/** How often (ms), and how many times, it is looked what became of a message that somebody asked to send. */
const LOOK_INTERVAL_MS = 500;
const MAX_LOOKS = 600;

/** What the note on messages that somebody asked to send says: `now`, if they are on their way, and then what became of them. */
export async function answerAbout(
  deps: RelayDeps,
  keys: readonly MessageKey[],
  now?: string,
): Promise<PressAnswer> {
  const before = now === undefined ? await outcomeOfAll(deps, keys) : undefined;
  if (before === strings.notPassedOn)
    return { outcome: 'done', told: before, replacement: noteOf(before, keys) };
  if (before !== undefined) return { outcome: 'done', told: before };
  const later = async () => {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      await sleep(LOOK_INTERVAL_MS, undefined, { ref: false });
      const told = await outcomeOfAll(deps, keys);
      if (told !== undefined) return noteOf(told, keys);
    }
    return undefined;
  };
  return { outcome: 'done', told: now ?? strings.passingOn(1), later };
}

/** The note that says so; what the agent takes later may still go in place of what it writes. */
function noteOf(told: string, [first]: readonly MessageKey[]): RenderedMessage {
  if (told !== strings.notPassedOn || first === undefined) return { text: told, blocks: [] };
  return noteWithButtons(told, ['send_instead'], first.ts);
}

/** What became of those that were not deleted; undefined while one is on its way. */
async function outcomeOfAll(deps: RelayDeps, keys: readonly MessageKey[]): Promise<string | undefined> {
  const outcomes = await Promise.all(keys.map((key) => outcomeOf(deps, key)));
  if (outcomes.includes(undefined)) return undefined;
  // One that still waits counts before those that were sent.
  if (outcomes.includes(strings.notPassedOn)) return strings.notPassedOn;
  return outcomes.find((told) => told !== strings.sendNowTooLate('withdrawn')) ?? outcomes[0];
}

/** What became of a message that somebody asked to send; undefined while it is on its way. */
export async function outcomeOf(deps: RelayDeps, key: MessageKey): Promise<string | undefined> {
  const message = await deps.store.messages.get(key);
  if (message === undefined) return strings.controlFailed.unknown;
  const { state, is_urgent: isUrgent } = message;
  if (state === 'sending') return undefined;
  if (state !== 'waiting') return strings.sendNowTooLate(state);
  return (await noteIfPaused(deps, message)) ?? (isUrgent ? undefined : strings.notPassedOn);
}
