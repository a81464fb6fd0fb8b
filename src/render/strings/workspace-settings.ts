/** Who may use the agent in a whole workspace, in App Home. */
export const workspaceAccess = {
  heading: 'Who may use the agent',
  change: 'Change who may use it',
  title: 'Who may use the agent',
  about: "This applies to the whole workspace. A channel's own settings override it.",
  admits: 'People',
  listens: "Which replies I read in people's threads",
  save: 'Save',
  notAdmin: 'Only admins and owners of this workspace can set who may use the agent.',
} as const;

/** Who has set a value. */
export const settingOrigins = {
  channel: 'set for this channel',
  workspace: 'set for this workspace',
  operator: "the operator's setting",
  service: 'the agent service chooses',
} as const;

/** A value and who has set it. */
export interface ValueInForce {
  text: string;
  from: keyof typeof settingOrigins;
}

/** Below a setting: what holds now, and why. */
export function settingInForce(value: ValueInForce): string {
  return `Now: ${withOrigin(value)}.`;
}

/** The settings as App Home shows them; `bots` are ids, or "none"; `replies` those that go to the agent. */
export function workspaceAccessSummary(values: Record<'people' | 'bots' | 'replies', ValueInForce>): string {
  const [people, bots, replies] = [values.people, values.bots, values.replies].map(withOrigin);
  return `People: ${people}. Bots and workflows: ${bots}. Replies in people's threads: ${replies}. A channel's own settings override this.`;
}

function withOrigin({ text, from }: ValueInForce): string {
  return `${text} (${settingOrigins[from]})`;
}

/** The option that leaves the choice to the app's configuration. */
export function appDefault(people: string): string {
  return `Default: ${people.charAt(0).toLowerCase()}${people.slice(1)}`;
}
