import { type SlackFile, slackFileSchema } from '../../slack/shared-file.ts';
import type { MessageContent } from '../../store/schema.ts';

/** The files of a message, in order and without duplicates. Ignores what is not a Slack file. */
export function filesOf(content: MessageContent): SlackFile[] {
  const files = new Map<string, SlackFile>();
  for (const raw of content.files ?? []) {
    const parsed = slackFileSchema.safeParse(raw);
    if (parsed.success && !files.has(parsed.data.id)) files.set(parsed.data.id, parsed.data);
  }
  return [...files.values()];
}
