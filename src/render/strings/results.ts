/** What stands in and below an answer: its rest, its results and their links. */

export const restInFile = 'The rest of the answer is in the file below.';
export const restOfAnswer = 'The rest of the answer';

/** Below an answer that is still being written and exceeds its messages; `characters` is its length so far. */
export function answerContinues(characters: number): string {
  const count = characters < 1_000 ? characters : Math.floor(characters / 1_000) * 1_000;
  return `The answer is still growing, with ${count.toLocaleString('en-US')} characters so far. I'll share the rest as a file when it's done.`;
}

/** Stands in the answer for a block that Slack cannot show. */
export function unsupportedBlock(type: string): string {
  return `(The agent also sent a block of type “${type || 'unknown'}”, which I can't show here.)`;
}

export const freshLinksHint = 'Links expire after a while; press the button for new ones.';
export const linkTooLong = 'link too long for Slack; use the button below';
export const noLink = 'no link';
export const linksRefused = "Slack didn't accept the links to these files.";
export const resultsUnavailable = "I couldn't read which files the agent made for this answer.";

/** The heading over the results `from` to `to` of `count`. */
export function resultsHeading(count: number, from: number, to: number): string {
  const files = count === 1 ? '1 file' : `${count} files`;
  return from === 1 && to === count ? `${files} from the agent` : `${files} from the agent, ${from} to ${to}`;
}

/** The heading over results that arrived after their turn ended. */
export function laterResults(heading: string): string {
  return `${heading}, made after the answer`;
}

/** Below the first rows of a table. */
export function tableSize(
  all: { rows: number; columns: number },
  shown: { rows: number; columns: number },
): string {
  const size = `${all.rows} ${all.rows === 1 ? 'row' : 'rows'}, ${all.columns} columns`;
  if (shown.rows === all.rows && shown.columns === all.columns) return size;
  const columns = shown.columns === all.columns ? '' : ` and ${shown.columns} columns`;
  return `${size}; showing the first ${shown.rows} ${shown.rows === 1 ? 'row' : 'rows'}${columns}`;
}
