import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../calls/json.ts';
import { refusedSetting } from '../config/environment-and-secret-files.ts';
import { errorCode } from '../postgres/errors.ts';
import { promptListSchema } from '../relay/reading/prompt-list.ts';
import type { OfferedPrompt } from '../relay/runtime/deps.ts';

/** What the file holds: a prompt, a skill, or a prompt that runs one, in each entry. */
const fileSchema = z
  .array(
    z.looseObject({
      title: z.string(),
      line: z.string(),
      prompt: z.string().default(''),
      // It is typed between quotes.
      skill: z
        .string()
        .regex(/^[^\n"\u201c-\u201e]{1,200}$/)
        .optional(),
    }),
  )
  .transform((prompts) =>
    prompts.map(({ title, line, prompt, skill }) => ({
      title,
      line,
      prompt: skill === undefined ? prompt : `--skill "${skill}" ${prompt}`,
    })),
  )
  .pipe(promptListSchema);

/** The operator's prompts. Throws a ConfigError that names the first thing that is wrong in the file. */
export function readPromptsFile(file: string | undefined): readonly OfferedPrompt[] {
  if (file === undefined) return [];
  const { data, error } = fileSchema.safeParse(parseJson(readText(file)));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const [entry, field] = issue?.path ?? [];
  const place = typeof entry === 'number' ? `entry ${entry + 1}, ${String(field)}: ` : '';
  throw refusedSetting('PROMPTS_FILE', `${file}: ${place}${issue?.message}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw refusedSetting('PROMPTS_FILE', `${file} cannot be read: ${errorCode(error) ?? ''}`);
  }
}
