import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { type ChoiceQuestion, maskSecret, type Questions, type TextQuestion } from './questions.ts';

/** Every question that an answer file may answer. */
const answersSchema = z.strictObject({
  secrets: z.string().optional(),
  events: z.string().optional(),
  public_url: z.string().optional(),
  way: z.string().optional(),
  configuration_token: z.string().optional(),
  app: z.string().optional(),
  bot_token: z.string().optional(),
  app_token: z.string().optional(),
  signing_secret: z.string().optional(),
  agent_base_url: z.string().optional(),
  agent_api_key: z.string().optional(),
  allow_private_host: z.boolean().optional(),
  database: z.string().optional(),
  database_url: z.string().optional(),
  doctor: z.string().optional(),
  start: z.boolean().optional(),
});
/** The names of all answers. */
export const ANSWER_KEYS: readonly string[] = Object.keys(answersSchema.shape);
type Answers = z.infer<typeof answersSchema>;

/** An answer file is missing an answer, or has one that cannot be used; `message` names it and how to mend it. */
export class AnswerError extends Error {
  readonly code = 'bad_answer';

  constructor(message: string) {
    super(message);
    this.name = 'AnswerError';
  }
}

/** Answers from a YAML file; what it leaves out keeps its default. Throws AnswerError. */
export class AnswerFile implements Questions {
  readonly #path: string;
  readonly #answers: Answers;
  readonly #say: (line: string) => void;

  constructor(path: string, say: (line: string) => void) {
    this.#path = path;
    this.#answers = readAnswers(path);
    this.#say = say;
  }

  async choose<Value extends string>({
    key,
    message,
    choices,
    ...rest
  }: ChoiceQuestion<Value>): Promise<Value> {
    const answer = this.#answer(key) ?? rest.default;
    const chosen = choices.find(({ value }) => value === answer);
    const values = choices.map(({ value }) => value).join(', ');
    if (answer === undefined) throw this.#error(key, `is missing (${values}). ${message}`);
    if (chosen === undefined) throw this.#error(key, `is "${answer}"; it can be ${values}.`);
    this.#say(`${key}: ${chosen.value}`);
    return chosen.value;
  }

  async ask({ key, message, where = '', secret, check, ...rest }: TextQuestion): Promise<string> {
    const answer = (this.#answer(key) ?? rest.default ?? '').trim();
    if (answer === '') throw this.#error(key, `is missing. ${`${message}. ${where}`.trim()}`);
    const problem = await check(answer);
    if (problem !== undefined) throw this.#error(key, `cannot be used. ${problem}`);
    this.#say(`${key}: ${secret === true ? maskSecret(answer) : answer}`);
    return answer;
  }

  async confirm(question: { key: string; message: string; default: boolean }): Promise<boolean> {
    const { key } = question;
    const answer = this.#answer(key);
    const isYes = answer === undefined ? question.default : answer === 'true';
    this.#say(`${key}: ${isYes}`);
    return isYes;
  }

  reject(key: string, problem: string): void {
    throw this.#error(key, `cannot be used. ${problem}`);
  }

  #answer(key: string): string | undefined {
    const found = Object.entries(this.#answers).find(([name]) => name === key)?.[1];
    return found === undefined ? undefined : String(found);
  }

  #error(key: string, problem: string): AnswerError {
    return new AnswerError(`${this.#path}: ${key} ${problem}`);
  }
}

function readAnswers(path: string): Answers {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AnswerError(`${path} cannot be read: ${reason}`);
  }
  const answers = answersSchema.safeParse(value ?? {});
  if (answers.success) return answers.data;
  const problems = answers.error.issues.map(({ path: at, message }) => [...at, message].join(': '));
  throw new AnswerError(`${path}: ${problems.join('; ')}. It may contain: ${ANSWER_KEYS.join(', ')}.`);
}
