import { oneOf } from '../chaos/random-streams.ts';
import type { Random } from '../slack/ids.ts';

/** Values that no field expects. None of them mentions the bot or names a direct message. */
const JUNK_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '<@>',
  '<@U>',
  '<!subteam^>',
  '&lt;@U1&gt;',
  '1700000000',
  '1700000000.0000001',
  '-1.000000',
  '9999999999.999999',
  '../../etc/passwd',
  "'; drop table messages; --",
  '{{7*7}}',
  '🧬'.repeat(50),
  'x'.repeat(20_000),
  '\u202e\u200b\ufeff',
  '*_~`'.repeat(200),
  '```',
  '<'.repeat(500),
  [],
  [[[[[]]]]],
  {},
  { length: 1e9 },
  { toString: 'no' },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
];

/** A copy with one to four changes: a part removed, replaced, wrapped or nested deeply. */
export function mutate(value: unknown, random: Random): unknown {
  let changed = value;
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times; time += 1) changed = mutateOnce(changed, random, 0);
  return changed;
}

function mutateOnce(value: unknown, random: Random, depth: number): unknown {
  const inside = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  // Most of the fields, including the event's own, are two levels down or deeper.
  if (!inside || (depth > 0 && random() < 0.25)) return replacement(value, random);
  const keys = Object.keys(value);
  const key = keys[Math.floor(random() * keys.length)] ?? '';
  if (Array.isArray(value)) {
    const index = Number(key);
    if (random() < 0.2) return value.filter((_, at) => at !== index);
    if (random() < 0.1) return [...value, ...value];
    return value.map((item: unknown, at) => (at === index ? mutateOnce(item, random, depth + 1) : item));
  }
  const entries = Object.entries(value);
  if (random() < 0.2) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? mutateOnce(item, random, depth + 1) : item]),
  );
}

function replacement(value: unknown, random: Random): unknown {
  if (random() < 0.15) return [value];
  if (random() < 0.1) return { value };
  if (random() < 0.05) return nested(200);
  if (typeof value === 'string' && random() < 0.3) {
    const at = Math.floor(random() * (value.length + 1));
    return (
      value.slice(0, at) +
      String(oneOf(random, ['\u0000', '\n', '"', '\\', 'é', '<', '>', '|'])) +
      value.slice(at)
    );
  }
  return oneOf(random, JUNK_VALUES);
}

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}
