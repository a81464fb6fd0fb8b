import type { Extra } from './chaos-options.ts';
import type { FaultTarget } from './fault-profile.ts';

/** The call on whose arrival a process is killed; undefined means a random moment. */
export type KillTrigger = { target: FaultTarget; call: RegExp; timeoutMs?: number } | undefined;

/** In what a call says: a reminder, the name of a record's file, the link of a question that is asked again, and sources. */
export const REMINDER = 'waiting for your answer';
const RECORD = 'task-record-';
const LINK = /\|(an earlier|a new) thread>/;
const SOURCES = /Sources\b/;
const CHECKED_SOURCES = /\d sources: /;
const REPLACEMENT = 'Asked to replace sources';

/** A question has to wait for an answer first, or a form has to be filled and sent (ms). */
const SLOW_TRIGGER_TIMEOUT_MS = 15_000;

const slack = (call: RegExp): KillTrigger => ({ target: 'slack', call });
const agent = (call: RegExp): KillTrigger => ({ target: 'agent', call });
const slowly = (call: RegExp): KillTrigger => ({ target: 'slack', call, timeoutMs: SLOW_TRIGGER_TIMEOUT_MS });

/** One for each step of a turn, so that kills hit rare steps too. */
export const KILL_TRIGGERS: readonly KillTrigger[] = [
  undefined,
  slack(/^chat\.postMessage$/),
  agent(/^POST \/projects$/),
  agent(/^POST \/experimental\/tasks$/),
  agent(/^(POST \/experimental\/files|PUT (part|upload))/),
  agent(/^GET .*\/messages$/),
  agent(/^POST .*\/messages$/),
  agent(/^GET .*\/messages\/\{message_id\}$/),
  slack(/^chat\.update$/),
  agent(/^GET .*\/results$/),
];

/** The same for the steps of what a run does besides; what is hit rarely stands twice. */
export const EXTRA_KILL_TRIGGERS: Readonly<Record<Extra, readonly KillTrigger[]>> = {
  workflows: [slack(/^functions\.complete/), slack(/^chat\.getPermalink$/)],
  streams: [slack(/^chat\.startStream$/), slack(/^chat\.appendStream$/), slack(/^chat\.stopStream$/)],
  questions: [slowly(/ of a reminder$/), slowly(/ of a reminder$/), slowly(/^chat\.delete$/)],
  again: [slack(/^chat\.getPermalink$/), slowly(/ of a link$/), slowly(/ of a link$/)],
  // Who may see a record is asked just before its id is recorded, and then it is shared.
  records: [
    slowly(/^files\.getUploadURLExternal$/),
    slowly(/^conversations\.members$/),
    slowly(/ of a record$/),
    slowly(/ of a record$/),
    slowly(/^files\.info$/),
  ],
  sources: [
    slack(/^chat\.postMessage of sources$/),
    slowly(/^chat\.update of sources$/),
    slowly(/^chat\.update of sources$/),
    slowly(/^press of a replacement$/),
    slowly(/^press of a replacement$/),
    slowly(/^chat\.update of a replacement$/),
  ],
};

/** Some calls have names of their own, by what they say. */
export function nameOfCall(call: string, subject: () => string): string {
  if (call === 'files.completeUploadExternal')
    return subject().includes(RECORD) ? `${call} of a record` : call;
  if (call === 'chat.update') {
    const about = subject();
    if (about.includes(REPLACEMENT)) return `${call} of a replacement`;
    return CHECKED_SOURCES.test(about) ? `${call} of sources` : call;
  }
  if (call !== 'chat.postMessage') return call;
  const about = subject();
  if (about.includes(REMINDER)) return `${call} of a reminder`;
  if (LINK.test(about)) return `${call} of a link`;
  return SOURCES.test(about) ? `${call} of sources` : call;
}
