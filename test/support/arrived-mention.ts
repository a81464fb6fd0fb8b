/** A mention that arrives in a place where the bot answers, without the message's ts and thread. */
export const ARRIVED_MENTION = {
  workspace: 'T1',
  channel: 'C1',
  user_id: 'U1',
  content: { text: 'a question' },
  state: 'waiting',
  edited_ts: null,
  account_id: 'settings',
  is_addressed: true,
  is_partial: false,
  client_msg_id: null,
  appliedEdit: undefined,
  is_place_checked: true,
} as const;
