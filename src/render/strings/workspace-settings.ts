/** Who may use the agent in a whole workspace, in App Home. */
export const workspaceAccess = {
  heading: 'Who may use the agent',
  change: 'Change who may use it',
  title: 'Who may use the agent',
  about: "This applies to the whole workspace. A channel's own settings override it.",
  admits: 'People',
  listens: 'Which replies in threads that people began I read',
  save: 'Save',
  notAdmin: 'Only admins and owners of this workspace can set who may use the agent.',
} as const;

/** The settings as App Home shows them; `bots` are ids, or "none"; `replies` those that go to the agent. */
export function workspaceAccessSummary({
  people,
  own,
  bots,
  replies,
}: {
  people: string;
  own: boolean;
  bots: string;
  replies: string;
}): string {
  const source = own ? 'set for this workspace' : 'as usual';
  return `${people} (${source}). Bots and workflows: ${bots}. Replies in threads that people began: ${replies.charAt(0).toLowerCase()}${replies.slice(1)}. A channel's own settings override this.`;
}

/** The option that leaves the choice to the app's configuration. */
export function appDefault(people: string): string {
  return `As usual: ${people.charAt(0).toLowerCase()}${people.slice(1)}`;
}
