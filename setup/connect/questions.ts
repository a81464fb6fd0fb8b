/** One of a few answers. */
export interface Choice<Value extends string> {
  value: Value;
  name: string;
  /** What it means, in one line. */
  description: string;
}

interface Question {
  /** Its name in an answer file. */
  key: string;
  message: string;
  /** Where to find the answer. */
  where?: string;
}

export interface ChoiceQuestion<Value extends string> extends Question {
  choices: readonly Choice<Value>[];
  default?: Value | undefined;
}

export interface TextQuestion extends Question {
  /** What Enter alone keeps. */
  default?: string | undefined;
  /** Shown only by its kind, its length and its end. */
  secret?: true;
  /** Says how what is typed so far looks. */
  hint?: (typed: string) => string;
  /** Checks and tries an answer: what is wrong with it and how to mend that, or undefined. */
  check: (answer: string) => string | undefined | Promise<string | undefined>;
}

/** Where answers come from: a person at a terminal, or a file. */
export interface Questions {
  choose<Value extends string>(question: ChoiceQuestion<Value>): Promise<Value>;
  /** Resolves to an answer that has passed its check, without blanks around it. */
  ask(question: TextQuestion): Promise<string>;
  confirm(question: Question & { default: boolean }): Promise<boolean>;
  /** Called if something failed that only other answers can mend: returns if the questions can be asked again. */
  reject(key: string, problem: string): void;
}

/** A secret as people may see it: its kind, its last four characters and its length. */
export function maskSecret(secret: string): string {
  return `${kindOf(secret)}…${secret.length >= 16 ? secret.slice(-4) : ''} ${lengthOf(secret)}`;
}

/** A secret as it is typed: its end is left out, because one after the other the ends would tell all of it. */
export function maskTyped(secret: string): string {
  return `${kindOf(secret)}… ${lengthOf(secret)}`;
}

function kindOf(secret: string): string {
  return /^(?:xox[a-z]|xoxe\.xox[a-z]|xapp)-|^postgres(?:ql)?:\/\//.exec(secret)?.[0] ?? '';
}

function lengthOf({ length }: string): string {
  return length === 1 ? '(1 character)' : `(${length} characters)`;
}
