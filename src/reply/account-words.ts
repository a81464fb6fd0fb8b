/** The workspace's own account at the service: in the Home tab, and the modal that sets it. */
export const account = {
  heading: 'Account at the agent service',
  own: (host: string, person: string, date: string) =>
    `This workspace uses its own account at \`${host}\`, set by <@${person}> on ${date}.`,
  shared:
    'This workspace uses the account of whoever runs this app. An account of its own can take its place.',
  none: 'This workspace has no account yet, so the agent cannot answer here.',
  set: 'Set account',
  change: 'Change account',
  remove: 'Remove account',
  removeSure: 'Remove the account?',
  removeText:
    'Conversations that were begun with it cannot go on, unless the same account is set again with a new key.',
  removeYes: 'Remove',
  removeNo: 'Keep it',
  title: 'Agent account',
  submit: 'Try and keep',
  close: 'Close',
  address: 'Base address, with its version at the end (…/v1)',
  key: 'API key',
  keyHint: 'It is tried once, kept encrypted, and never shown again.',
  aboutChange:
    'With another account, conversations that are under way cannot go on; with a new key of the same account at the same address they do.',
  loading: 'One moment…',
  trying: 'The account is being tried. This takes a few seconds.',
  done: 'The account works, and is used from now on. New conversations begin with it.',
  doneSame: 'The new key works, and belongs to the same account: conversations go on.',
  refused: {
    not_admin: 'Only admins and owners of this workspace can set its account.',
    bad_address:
      'This address cannot be used: it must be https, at a public address, without a user or a query. Nothing was changed.',
    bad_key: 'The service does not accept this key. Nothing was changed.',
    no_service:
      'At this address answers something else than the agent service: check it, with its version at the end. Nothing was changed.',
    unreachable: 'Nothing answers at this address. Nothing was changed.',
    failed: 'This did not work; please try again in a moment. Nothing was changed.',
  },
} as const;
