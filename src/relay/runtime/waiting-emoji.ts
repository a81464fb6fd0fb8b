/** The emoji on a message that waits for its turn. */
export const WAITING_EMOJI = 'hourglass_flowing_sand';
