/** Subtypes of messages that people write. */
const USER_MESSAGE_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Whether people write messages of this subtype. */
export function isUserMessageSubtype(subtype: string | undefined): boolean {
  return USER_MESSAGE_SUBTYPES.has(subtype);
}
