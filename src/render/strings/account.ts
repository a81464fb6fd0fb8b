/** The workspace's own account at the service: its section in App Home, and the modal that sets it. */
export const account = {
  heading: 'Agent account',
  own: (host: string, person: string, date: string) =>
    `This workspace uses its own account at \`${host}\`, set by <@${person}> on ${date}.`,
  shared: "This workspace uses the app operator's account. You can set one of its own.",
  lost: (host: string) =>
    `The API key of this workspace's account at \`${host}\` was deleted when the app was uninstalled, so the agent can't answer here. Set the account again, or remove it.`,
  none: "This workspace has no account yet, so the agent can't answer here.",
  set: 'Set account',
  change: 'Change account',
  remove: 'Remove account',
  removeTitle: 'Remove the account?',
  removeText:
    "Conversations that started with it can't continue, unless the same account is set again with a new key.",
  removeYes: 'Remove',
  removeNo: 'Keep it',
  title: 'Agent account',
  submit: 'Test and save',
  address: 'Base address, with its version at the end (…/v1)',
  key: 'API key',
  keyHint: 'I test it once, store it encrypted, and never show it again.',
  aboutChange:
    "With another account, current conversations can't continue. With a new key for the same account at the same address, they can.",
  testing: 'Testing the account. This takes a few seconds.',
  saved: 'The account works and is now in use. New conversations start with it.',
  keyReplaced: 'The new key works and belongs to the same account, so conversations continue.',
  refused: {
    not_admin: 'Only admins and owners of this workspace can set its account.',
    bad_address:
      "This address can't be used: it must be https, at a public address, without a user or a query. Nothing was changed.",
    odd_key:
      "This isn't a valid key: a key has at least 16 characters, without spaces, quotes, braces or backslashes. Nothing was changed.",
    bad_key: 'The service rejected this key. Nothing was changed.',
    no_service:
      'Something other than the agent service answers at this address. Check it, including the version at the end; nothing was changed.',
    unreachable: 'Nothing answers at this address. Nothing was changed.',
    failed: "This didn't work; please try again in a moment. Nothing was changed.",
  },
} as const;
