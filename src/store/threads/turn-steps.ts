import type { Turn } from '../schema.ts';

/** The steps of a turn that operators want to see, in their order. A step has happened when it is recorded. */
export type TurnStep =
  | 'visible'
  | 'uploaded'
  | 'frozen'
  | 'sent'
  | 'replying'
  | 'settled'
  | 'results'
  | 'finished';

/** Hears of each step; `task` is the thread's, once it has one. It must not throw, and nothing waits for it. */
export type OnStep = (turn: Turn, step: TurnStep, task: string | null) => void;

/** By which column a step is known. */
const STEP_COLUMNS: readonly (readonly [keyof Turn, TurnStep])[] = [
  ['first_visible_at', 'visible'],
  ['file_notes', 'uploaded'],
  ['content', 'frozen'],
  ['user_message_id', 'sent'],
  ['assistant_message_id', 'replying'],
  ['settled_at', 'settled'],
  ['results_at', 'results'],
];

/** The steps that recording these values means; taking a value back is none. */
export function recordedSteps(values: Readonly<Record<string, unknown>>): TurnStep[] {
  return STEP_COLUMNS.flatMap(([column, step]) => (values[column] == null ? [] : [step]));
}
