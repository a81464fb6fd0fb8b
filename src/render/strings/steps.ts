/** The modal with the agent's steps. */

export const noSteps = 'The agent used no tools for this answer.';
export const stepsUnavailable =
  "I can't read the steps right now. Close this and press Steps again in a moment.";
export const stepsNotFound = 'The agent service no longer has this answer, so its steps are gone.';
export const stepInput = 'Input';
export const stepOutput = 'Output';
export const stepWithoutOutput = 'No output.';

/** Which steps of how many a page shows. */
export function stepsShown(from: number, to: number, count: number): string {
  return `Steps ${from} to ${to} of ${count}`;
}
