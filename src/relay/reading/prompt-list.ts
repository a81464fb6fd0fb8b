import { z } from 'zod';
import type { OfferedPrompt } from '../runtime/deps.ts';

const MAX_PROMPTS = 20;
/** Most characters of an option and its description (https://docs.slack.dev/reference/block-kit/composition-objects/option-object). */
const MAX_OPTION_CHARACTERS = 75;
const MAX_PROMPT_CHARACTERS = 1_000;

const optionText = z.string().trim().min(1).max(MAX_OPTION_CHARACTERS);

export const promptListSchema = z
  .array(
    z.object({
      title: optionText,
      line: optionText,
      prompt: z.string().trim().min(1).max(MAX_PROMPT_CHARACTERS),
    }),
  )
  .max(MAX_PROMPTS)
  .refine(
    (prompts) => new Set(prompts.map(({ title }) => title)).size === prompts.length,
    'two prompts have the same title',
  );

/** Reads what people wrote: a prompt in each line, as `title | what it does | prompt`; undefined for anything else. */
export function parsePromptList(text: string): OfferedPrompt[] | undefined {
  const lines = text.split('\n').filter((line) => /\S/.test(line));
  const prompts = lines.map((whole) => {
    const [title, line, ...prompt] = whole.split('|');
    return { title, line, prompt: prompt.join('|') };
  });
  return promptListSchema.safeParse(prompts).data;
}
