import { z } from 'zod';

/** The number of workspaces, each with its own service key. */
export const WORKSPACES = 40;
export const CHANNELS_PER_WORKSPACE = 10;
/** Characters per reply. */
export const REPLY_CHARACTERS = 4_000;

/** The service key of a workspace. */
export function serviceKeyOf(workspace: string): string {
  return `key-of-${workspace}`;
}

export const addressesSchema = z.object({
  slackApiUrl: z.string(),
  agentUrl: z.string(),
  tokens: z.array(z.string()),
});
export const askRequestSchema = z.object({ count: z.number(), text: z.string(), from: z.number() });
export const growRequestSchema = z.object({ ms: z.number() });
export const countsSchema = z.object({
  begun: z.number(),
  grown: z.number(),
  reads: z.number(),
  edits: z.number(),
  refused: z.number(),
});
/** A person's question as Slack stores it. */
export const questionSchema = z.object({
  workspace: z.string(),
  channel: z.string(),
  person: z.string(),
  ts: z.string(),
  text: z.string(),
});
export const startRequestSchema = z.object({
  where: addressesSchema,
  databaseUrl: z.string(),
  readsPerSecond: z.number(),
});
/** CPU time of the relay process so far, and how many thread jobs it holds. */
export const usageSchema = z.object({ cpuMs: z.number(), at: z.number(), held: z.number() });
export const memorySchema = z.object({ bytes: z.number() });
