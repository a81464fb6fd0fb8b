import type { AnswerLimits } from '../../src/relay/runtime/deps.ts';

/** The operator lets the bot answer wherever it is invited. */
export const EVERYWHERE: AnswerLimits = { channels: undefined, directMessages: true, groupMessages: true };

/** Settings by which any full member may ask and press, anywhere. */
export const OPEN_TO_MEMBERS = {
  taskControl: 'channel',
  allowedUsers: 'members',
  answers: EVERYWHERE,
  lookupMs: 1_500,
  allowedBots: [],
};
