import type { ActionResult } from '../page-protocol.ts';
import type { UserAction } from '../user-action.ts';
import { byId, h } from './dom.ts';
import { state } from './page-state.ts';
import { performAction } from './server-connection.ts';

let pendingSentences: string[] = [];
let waiting = false;

/** Announces a sentence to screen readers, at most once a second: simultaneous sentences are joined. */
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

/** Shows a warning for eight seconds, inside the open dialog if there is one. */
export function warn(sentence: string): void {
  const note = h('p', { class: 'warning' }, sentence);
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  if (dialog === undefined) byId('warnings').append(note);
  else dialog.append(h('div', { class: 'warnings', role: 'alert' }, note));
  setTimeout(() => note.remove(), 8_000);
}

type WithoutPerson<Action> = Action extends unknown ? Omit<Action, 'person'> : never;

/** Does what the person who is looking would do in Slack, and warns if it fails; returns whether it succeeded. */
export function act(action: WithoutPerson<UserAction>): Promise<boolean> {
  return warnOnFailure(performAction({ ...action, person: state.me }));
}

/** Warns if an action fails; returns whether it succeeded. */
export async function warnOnFailure(action: Promise<ActionResult>): Promise<boolean> {
  const { ok, error } = await action;
  if (!ok && error !== undefined) warn(error);
  return ok;
}
