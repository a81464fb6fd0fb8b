/** A person who acts in a workspace. */
export interface WorkspaceActor {
  workspace: string;
  person: string;
}

/** A person who acts in a channel, or asks about it. */
export interface ChannelActor extends WorkspaceActor {
  channel: string;
}
