import { nameParts } from '../../render/file-names.ts';
import { isDeleted, type SlackFile } from '../../slack/downloadable-files.ts';

/** What people read of a file. */
export function fileName(file: Partial<SlackFile>): string {
  return slackFileName(file) ?? (isDeleted(file) ? 'a deleted file' : 'a file');
}

/** A file's name for people and the agent: that of its title, once somebody has renamed it in Slack, which keeps the name. */
export function slackFileName({ name, title }: Partial<SlackFile>): string | undefined {
  if (!name || !title) return name || title || undefined;
  const [stem, ending] = nameParts(name);
  const last = ending.slice(ending.lastIndexOf('.'));
  const words = wordsIn(title);
  const own = [name, stem, name.slice(0, name.length - last.length)].map(wordsIn);
  if (words === '' || own.includes(words)) return name;
  return title.toLowerCase().endsWith(last.toLowerCase()) ? title : `${title}${ending}`;
}

/** Letters and digits alone: Slack's own titles may differ from names in other characters. */
function wordsIn(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
