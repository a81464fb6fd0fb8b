import type { AnswerLimits } from '../../src/relay/runtime/deps.ts';

/** The operator lets the bot answer wherever it is invited. */
export const EVERYWHERE: AnswerLimits = { channels: undefined, directMessages: true, groupMessages: true };
