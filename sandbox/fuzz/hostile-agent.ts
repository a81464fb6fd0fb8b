import type { AgentScript, AgentTurn } from '../agent/agent-script.ts';
import type { Misbehaviour } from '../agent/misbehaviour.ts';
import { oneOf } from '../chaos/random-streams.ts';
import type { Random } from '../slack/ids.ts';
import { mutate } from './mutation.ts';

/** Occurs in every text of the hostile agent; no other workspace may read it. */
export const HOSTILE_WORD = 'HOSTILE';

const MEBIBYTE = 1024 * 1024;
/** The most that the service document says of an answer's length. */
const ANSWER_LENGTH = 500_000;

/** Units of Markdown that cost a parser most. */
const CROWDED_UNITS: readonly string[] = [
  '[',
  '1)\n',
  '**重。**后',
  '- - - a\n',
  '[a](b',
  '![a](',
  '- > 1. `a` **b** [c](d) | e |\n',
  '|a|b|\n|-|-|\n',
  '\\( a ',
  '`` ` ',
  '- [ ] a\n',
  '<!channel> ',
  '> > > a\n',
  '\u0301',
  '\n',
];

const ROUNDS = 6;
/** Characters of the longest answers, and of what tools say in one answer. */
const HUGE_LENGTH = 5_000_000;
/** A block of an answer that takes a parser of tables long. */
const CROWDED_TABLE = `|a|b|\n|-|-|\n${'![a]('.repeat(3_900)}\n\n`;

/**
 * An agent whose answers cost as much as they can: it rewrites them at their start, or adds thousands of blocks, or
 * megabytes.
 */
export function hostileScript(random: Random): AgentScript {
  return async (turn) => {
    turn.write(HOSTILE_WORD);
    const kind = oneOf(random, [
      ...(['rewritten', 'rewritten', 'grown', 'blocks', 'steps', 'system', 'failed'] as const),
      ...(['outputs', 'huge', 'tables'] as const),
    ]);
    if (kind === 'failed') turn.fail('[x](y'.repeat(100_000));
    const unit = oneOf(random, CROWDED_UNITS);
    const length = oneOf(random, [3_000, 110_000, ANSWER_LENGTH]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const text = unit.repeat(Math.ceil(length / unit.length));
      if (kind === 'rewritten') turn.rewrite(`${HOSTILE_WORD} ${round}\n${text}`);
      else if (kind === 'grown') turn.write(text.slice(0, length / ROUNDS));
      else if (kind === 'tables') turn.write(CROWDED_TABLE);
      else if (kind === 'huge') turn.write(unit.repeat(HUGE_LENGTH / ROUNDS / unit.length));
      else if (kind === 'outputs') addOutput(turn, round, unit);
      else if (kind === 'system') turn.system(text);
      else if (kind === 'steps') for (let at = 0; at < 300; at += 1) turn.block(toolCall(at, unit));
      else
        for (let at = 0; at < 300; at += 1)
          turn.block({ type: `kind ${unit}`, raw: { text: unit }, text: unit });
      await turn.sleep(800);
    }
    if (kind === 'tables') await turn.result('table.csv', 'text/csv', 'a,b\n1,2\n');
    if (random() < 0.3) turn.review({ findings: unit.repeat(Math.ceil(100_000 / unit.length)) });
    if (random() < 0.2) turn.end('length');
  };
}

/** A finished tool call that says much. */
function addOutput(turn: AgentTurn, round: number, unit: string): void {
  const content = unit.repeat(HUGE_LENGTH / ROUNDS / unit.length);
  turn.block(toolCall(round, unit));
  turn.block({ type: 'tool_result', tool_use_id: `t${round}`, content });
}

function toolCall(at: number, unit: string) {
  return {
    type: 'tool_use',
    id: `t${at}`,
    name: unit.repeat(50),
    input: { code: unit.repeat(200), at: [[at]] },
  };
}

/** Fields that many responses have. */
const FIELDS: readonly string[] = [
  'status',
  'role',
  'created_at',
  'completed_at',
  'id',
  'title',
  'name',
  'download_url',
  'first_id',
  'user_message_id',
];

/** A response with millions of characters in the fields of one name. */
function withLongFields(body: object, random: Random): string {
  const field = oneOf(random, FIELDS);
  const lengths = [8, 1, 1, 1, 1];
  return JSON.stringify({ [field]: '', ...body }, (name, value: unknown) =>
    name === field && typeof value === 'string' ? 'x'.repeat((lengths.shift() ?? 0) * MEBIBYTE) : value,
  );
}

/** Spoils about so many of the service's answers (0 to 1). */
export function misbehaviour(
  random: Random,
  chance: () => number,
  onSpoilt: () => void,
): (call: string, body: object) => Misbehaviour | undefined {
  return (_call, body) => {
    // Every answer counts: the others hold what the hostile agent has written.
    onSpoilt();
    if (random() >= chance()) return undefined;
    return oneOf(random, WRONG_ANSWERS)(body, random);
  };
}

type WrongAnswer = (body: object, random: Random) => Misbehaviour;

const WRONG_ANSWERS: readonly WrongAnswer[] = [
  () => ({ kind: 'endless' }),
  (_, random) => ({ kind: 'stalled', bytes: oneOf(random, [0, 1_000, 15 * MEBIBYTE]) }),
  () => ({ kind: 'dribbled', bytes: 2_000 }),
  (_, random) => ({ kind: 'wrong-length', difference: oneOf(random, [-20, 20, 1e9]) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body) => ({ kind: 'body', body: { ...body, more: 'x'.repeat(15 * MEBIBYTE) } }),
  (body, random) => ({ kind: 'body', body: withLongFields(body, random) }),
  (body, random) => ({ kind: 'body', body: withLongFields(body, random) }),
  (body) => ({ kind: 'body', body: { ...body, more: Array.from({ length: 90_000 }, (_, at) => at) } }),
  (body) => ({ kind: 'body', body: { ...body, more: Array.from({ length: 200_000 }, () => ({})) } }),
  () => ({ kind: 'body', body: '['.repeat(500_000) }),
  (body) => ({ kind: 'body', body: JSON.stringify(body).slice(0, -5) }),
  () => ({ kind: 'body', body: '' }),
  // A list whose cursor leads back to itself.
  (body) => ({ kind: 'body', body: { ...body, has_more: true, first_id: 'msg_0', last_id: 'msg_0' } }),
  (_, random) => ({
    kind: 'body',
    body: '',
    status: oneOf(random, [301, 302, 307]),
    headers: { location: oneOf(random, ['http://169.254.169.254/', '/v1/experimental/tasks', '//', 'x:']) },
  }),
  (_, random) => ({
    kind: 'body',
    body: { detail: '<!channel> [x](https://a.example)'.repeat(2_000) },
    status: oneOf(random, [400, 402, 404, 409, 418, 422, 429, 500, 503, 529]),
    headers: { 'retry-after': oneOf(random, ['0', '-1', '1e9', 'soon', '3']) },
  }),
  (body) => ({ kind: 'body', body, headers: { 'x-much': 'y'.repeat(40_000) } }),
];
