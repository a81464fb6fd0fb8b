import type { ActionResult } from '../page-protocol.ts';
import { byId, h } from './dom.ts';

let pendingSentences: string[] = [];
let waiting = false;

/** Tells a screen reader, at most one sentence a second: what comes together is read together. */
export function announce(sentence: string): void {
  pendingSentences.push(sentence);
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    const said =
      pendingSentences.length > 3
        ? [...pendingSentences.slice(0, 2), `and ${pendingSentences.length - 2} more`]
        : pendingSentences;
    byId('announcer').textContent = said.join('. ');
    pendingSentences = [];
    waiting = false;
  }, 1_000);
}

/** Shows a sentence for a while, above the dialog that is open. */
export function warn(sentence: string): void {
  const note = h('p', { class: 'warning' }, sentence);
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  if (dialog === undefined) byId('warnings').append(note);
  else dialog.append(h('div', { class: 'warnings', role: 'alert' }, note));
  setTimeout(() => note.remove(), 8_000);
}

/** Warns where a deed did not work out; the answer is whether it did. */
export async function warnOnFailure(doing: Promise<ActionResult>): Promise<boolean> {
  const { ok, error } = await doing;
  if (!ok && error !== undefined) warn(error);
  return ok;
}
