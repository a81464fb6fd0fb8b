import type { PlayedStep, Rehearsal } from './rehearsal.ts';

/** A step in one line, for the terminal; `words` is what refused it said. */
export function stepLine({ step, outcome, note, settings, ms }: PlayedStep, words?: string): string {
  const why = [note, words].map((text) => (text === undefined ? '' : `: ${text}`)).join('');
  const about = settings === undefined ? '' : ` See ${settings.join(', ')}.`;
  return `${outcome.padEnd(12)} ${step} (${ms} ms)${why}${about}`;
}

/** A rehearsal as a page of Markdown, for an issue. */
export function rehearsalPage({ begunAt, isComplete, protocols, steps, left }: Rehearsal): string {
  const cell = (text: string) => text.replace(/[|\r\n]+/g, ' ');
  const rows = steps.map(({ step, outcome, note = '', settings = [], ms, calls }) => {
    const made = calls.map(({ call, outcome: how, ms: took }) => `${call} ${how} ${took}`).join('<br>');
    return `| ${step} | ${outcome} | ${cell(note)} | ${settings.join(', ')} | ${ms} | ${cell(made)} |`;
  });
  const spoken = Object.entries(protocols).map(([whose, versions]) => `${whose}: ${versions.join(', ')}`);
  return [
    '# Rehearsal',
    `${begunAt}${isComplete ? '' : ', interrupted'}. ${spoken.join('; ')}.`,
    left.length === 0 ? 'All that it left was deleted.' : `Not deleted: ${left.join('; ')}.`,
    ['| step | outcome | note | settings | ms | calls (ms) |', '|---|---|---|---|---|---|', ...rows].join(
      '\n',
    ),
  ].join('\n\n');
}
