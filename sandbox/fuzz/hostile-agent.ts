import type { AgentScript } from '../agent/agent-script.ts';
import type { Misbehaviour } from '../agent/misbehaviour.ts';
import { mutate, pick, type Random } from './mutation.ts';

/** Occurs in every text of the hostile agent; no other workspace may read it. */
export const HOSTILE_WORD = 'HOSTILE';

const MEBIBYTE = 1024 * 1024;
/** The most that the service document says of an answer's length. */
const ANSWER_LENGTH = 500_000;

/** Units of Markdown that cost a parser most. */
const CROWDED_UNITS: readonly [string, ...string[]] = [
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

/** An agent whose answers cost as much as they can: it rewrites them at their start, or adds thousands of blocks. */
export function hostileScript(random: Random): AgentScript {
  return async (turn) => {
    turn.write(HOSTILE_WORD);
    const kind = pick(random, ['rewritten', 'rewritten', 'grown', 'blocks', 'steps', 'system', 'failed']);
    if (kind === 'failed') turn.fail('[x](y'.repeat(100_000));
    const unit = pick(random, CROWDED_UNITS);
    const length = pick(random, [3_000, 110_000, ANSWER_LENGTH]);
    for (let round = 0; round < 6; round += 1) {
      const text = unit.repeat(Math.ceil(length / unit.length));
      if (kind === 'rewritten') turn.rewrite(`${HOSTILE_WORD} ${round}\n${text}`);
      else if (kind === 'grown') turn.write(text.slice(0, length / 6));
      else if (kind === 'system') turn.system(text);
      else if (kind === 'steps') for (let at = 0; at < 300; at += 1) turn.block(toolCall(at, unit));
      else
        for (let at = 0; at < 300; at += 1)
          turn.block({ type: `kind ${unit}`, raw: { text: unit }, text: unit });
      await turn.sleep(800);
    }
    if (random() < 0.3) turn.review({ findings: unit.repeat(Math.ceil(100_000 / unit.length)) });
    if (random() < 0.2) turn.end('length');
  };
}

function toolCall(at: number, unit: string) {
  return {
    type: 'tool_use',
    id: `t${at}`,
    name: unit.repeat(50),
    input: { code: unit.repeat(200), at: [[at]] },
  };
}

/** Spoils about so many of the service's answers (0 to 1). */
export function misbehaviour(
  random: Random,
  chance: () => number,
  onSpoilt: () => void,
): (call: string, body: object) => Misbehaviour | undefined {
  return (call, body) => {
    // Every answer counts: the others hold what the hostile agent has written.
    onSpoilt();
    if (random() >= chance()) return undefined;
    return pick<(body: object, random: Random, call: string) => Misbehaviour>(random, WRONG_ANSWERS)(
      body,
      random,
      call,
    );
  };
}

const WRONG_ANSWERS: readonly [
  (body: object, random: Random, call: string) => Misbehaviour,
  ...((body: object, random: Random, call: string) => Misbehaviour)[],
] = [
  () => ({ kind: 'endless' }),
  (_, random) => ({ kind: 'stalled', bytes: pick(random, [0, 1_000, 15 * MEBIBYTE]) }),
  () => ({ kind: 'dribbled', bytes: 2_000 }),
  (_, random) => ({ kind: 'wrong-length', difference: pick(random, [-20, 20, 1e9]) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body, random) => ({ kind: 'body', body: mutate(body, random) }),
  (body) => ({ kind: 'body', body: { ...body, more: 'x'.repeat(15 * MEBIBYTE) } }),
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
    status: pick(random, [301, 302, 307]),
    headers: { location: pick(random, ['http://169.254.169.254/', '/v1/experimental/tasks', '//', 'x:']) },
  }),
  (_, random) => ({
    kind: 'body',
    body: { detail: '<!channel> [x](https://a.example)'.repeat(2_000) },
    status: pick(random, [400, 402, 404, 409, 418, 422, 429, 500, 503, 529]),
    headers: { 'retry-after': pick(random, ['0', '-1', '1e9', 'soon', '3']) },
  }),
  (body) => ({ kind: 'body', body, headers: { 'x-much': 'y'.repeat(40_000) } }),
];
