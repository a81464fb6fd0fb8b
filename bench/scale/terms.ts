import { z } from 'zod';

/** Workspaces, each with a service key of its own. */
export const workspaces = 40;
export const channelsEach = 10;
/** Characters of a reply. */
export const characters = 4_000;

/** The service key of a workspace. */
export function keyOf(workspace: string): string {
  return `key-of-${workspace}`;
}

export const whereabouts = z.object({
  slackApiUrl: z.string(),
  agentUrl: z.string(),
  tokens: z.array(z.string()),
});
export const askOrder = z.object({ count: z.number(), text: z.string(), from: z.number() });
export const growOrder = z.object({ ms: z.number() });
export const counts = z.object({
  begun: z.number(),
  grown: z.number(),
  reads: z.number(),
  edits: z.number(),
  refused: z.number(),
});
/** A person's question, as it stands in Slack. */
export const asked = z.object({
  workspace: z.string(),
  channel: z.string(),
  person: z.string(),
  ts: z.string(),
  text: z.string(),
});
export const startOrder = z.object({
  where: whereabouts,
  databaseUrl: z.string(),
  readsPerSecond: z.number(),
});
/** What the relay's process took so far, and what it holds. */
export const took = z.object({ cpuMs: z.number(), at: z.number(), held: z.number() });
export const memory = z.object({ bytes: z.number() });
