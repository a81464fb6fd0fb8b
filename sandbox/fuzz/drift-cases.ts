import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

/** A response of the service that differs from its document. */
export interface DriftCase {
  /** The call, the field and what is wrong with it, with dots between them. */
  readonly name: string;
  readonly call: string;
  readonly field: string;
  readonly drift: /** Every response to the call has the field so. */
    | { readonly kind: 'field'; readonly change: (body: unknown) => unknown }
    /** The first call is answered so; from 500 on, it takes effect, too. */
    | { readonly kind: 'answer'; readonly status: number; readonly body: 'refusal' | 'torn' | 'html' };
}

/** A call that a conversation made, and the JSON of its response, if any. */
export interface RecordedResponse {
  readonly call: string;
  readonly body?: object;
}

const MISSING = Symbol('missing');
const LONGER = 1_000;
const UNKNOWN_WORD = 'something_new';

/** What may become of a field's value. */
const CHANGES: Readonly<Record<string, (value: unknown) => unknown>> = {
  missing: () => MISSING,
  null: () => null,
  empty: (value) => (Array.isArray(value) ? [] : isRecord(value) ? {} : ''),
  numberAsText: (value) => (typeof value === 'number' ? String(value) : '5'),
  textAsNumber: () => 5,
  object: (value) => ({ value }),
  list: (value) => [value],
  unknownWord: () => UNKNOWN_WORD,
  longer,
};

/** What a list may hold besides. */
const ODD_ITEMS: readonly string[] = ['null', 'empty', 'textAsNumber', 'object', 'list', 'unknownWord'];

/** Each field of each response in each form, and each call with each wrong answer: sorted by call and field. */
export function driftCases(recorded: readonly RecordedResponse[]): DriftCase[] {
  const responses = Map.groupBy(recorded, ({ call }) => call);
  return [...responses.keys()].sort().flatMap((call) => {
    // A body may itself be a list.
    const bodies = (responses.get(call) ?? []).flatMap(({ body }) => (body === undefined ? [] : [body]));
    const fields = new Set(bodies.flatMap((body) => fieldsOf(body)));
    return [...[...fields].flatMap((field) => fieldCases(call, field, bodies)), ...answerCases(call)];
  });
}

/** The case of this name. Throws an Error if no case may be called so. */
export function caseNamed(name: string): DriftCase {
  const [call = '', ...path] = name.split('.');
  const answer = answerCases(call).find((one) => one.name === name);
  if (answer !== undefined) return answer;
  const changeValue = CHANGES[path.pop() ?? ''];
  if (changeValue === undefined || path.length === 0) throw new Error(`There is no case ${name}.`);
  const change = (body: unknown) => changeAt(body, path, changeValue);
  return { name, call, field: path.join('.'), drift: { kind: 'field', change } };
}

/** The cases that a run plays: all, those whose names begin so, or so many. */
export function chosenCases(
  all: readonly DriftCase[],
  { seed, most, only }: { seed: number; most: number | undefined; only: string | undefined },
): DriftCase[] {
  if (only !== undefined) return all.filter(({ name }) => `${name}.`.startsWith(`${only}.`));
  if (most === undefined) return [...all];
  // By their names: which cases a sample has does not depend on what else the service happened to send.
  const order = ({ name }: DriftCase) => createHash('sha256').update(`${seed} ${name}`).digest('hex');
  return all.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, most);
}

/** The forms of a field that make a difference in any of these bodies. */
function fieldCases(call: string, field: string, bodies: readonly object[]): DriftCase[] {
  const isItem = field.split('.').at(-1) === '[]';
  return Object.keys(CHANGES)
    .filter((change) => !isItem || ODD_ITEMS.includes(change))
    .map((change) => caseNamed(`${call}.${field}.${change}`))
    .filter(
      ({ drift }) => drift.kind === 'field' && bodies.some((body) => differs(drift.change(body), body)),
    );
}

function differs(changed: unknown, body: object): boolean {
  return JSON.stringify(changed) !== JSON.stringify(body);
}

function answerCases(call: string): DriftCase[] {
  const answers = [
    ...Object.keys(STATUS_CODES)
      .map(Number)
      .filter((status) => status >= 400)
      .map((status) => ({ status, body: 'refusal' as const })),
    { status: 200, body: 'torn' as const },
    { status: 200, body: 'html' as const },
  ];
  return answers.map(({ status, body }) => {
    const field = body === 'refusal' ? String(status) : body;
    return { name: `${call}.${field}`, call, field, drift: { kind: 'answer', status, body } };
  });
}

/** The fields of a body, with dots between them; `[]` stands for the items of a list. */
function fieldsOf(value: unknown, path = ''): string[] {
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item) => ['[]', item])
    : Object.entries(isRecord(value) ? value : {});
  return entries.flatMap(([key, item]) => {
    const field = path === '' ? key : `${path}.${key}`;
    return [field, ...fieldsOf(item, field)];
  });
}

/** A copy of a body in which the values at a path are changed; a list gets another item instead. */
function changeAt(value: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [key = '', ...rest] = path;
  const changed = (item: unknown) => (rest.length === 0 ? change(item) : changeAt(item, rest, change));
  if (key === '[]') {
    if (!Array.isArray(value)) return value;
    return rest.length === 0 ? [change(value[0] ?? UNKNOWN_WORD), ...value] : value.map(changed);
  }
  if (!isRecord(value) || !(key in value)) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, name === key ? changed(item) : item]);
  return Object.fromEntries(entries.filter(([, item]) => item !== MISSING));
}

function longer(value: unknown): unknown {
  if (typeof value === 'number') return value * LONGER;
  if (Array.isArray(value)) return Array.from({ length: LONGER }, () => value).flat();
  if (isRecord(value)) return { ...value, ...Object.fromEntries(Array.from({ length: LONGER }, named)) };
  return (typeof value === 'string' ? value : UNKNOWN_WORD).repeat(LONGER);
}

function named(_: unknown, at: number): [string, string] {
  return [`field_${at}`, UNKNOWN_WORD];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
