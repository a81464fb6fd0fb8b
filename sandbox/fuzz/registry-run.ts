import type { Misbehaviour } from '../agent/misbehaviour.ts';
import { seededRandom } from '../slack/slack-workspace.ts';
import { secondsSince } from '../wait-until.ts';
import { watchCrashes } from './crash-watch.ts';
import { caseNamed, chosenCases, type DriftCase, driftCases, type RecordedResponse } from './drift-cases.ts';
import type { DriftOptions, RegistryFuzzOptions } from './fuzz-options.ts';
import { hostileRegistry } from './hostile-registry.ts';
import { MAX_REPEATS, startRegistryScene } from './registry-scene.ts';

/** How many of a hostile registry's answers are spoilt, and after how many plays it must be as before. */
const SPOILT_SHARE = 0.6;
const HONEST_EVERY = 20;
const CALL = /^GET (?:\/works|\/doiRA|esummary)/;
/** Without these, a retracted work looks like another one: an update of a kind that nobody knows is none. */
const TELLS_RETRACTION =
  /\.(?:updated-by|pubtype)\.(?:missing|null|empty)$|\.updated-by\.\[\]\.type\.(?:empty|unknownWord|numberAsText)$/;

/** Whether a case, or all that begin so, are about an answer of a registry. */
export function isOfRegistry(name: string): boolean {
  return CALL.test(name);
}

/** Lets registries answer wrongly and with hostility: each answer must arrive, and nothing be said that they did not say. */
export async function runRegistryFuzz(
  { answers, seed, database }: RegistryFuzzOptions,
  onProgress: (line: string) => void = () => undefined,
) {
  await using undo = new AsyncDisposableStack();
  const began = performance.now();
  const harm: string[] = [];
  watchCrashes((sentence) => harm.push(sentence), undo);
  const scene = await startRegistryScene(database, undo);
  harm.push(...(await scene.playHonestly()));
  const random = seededRandom(seed);
  let [spoilt, plays] = [0, 0];
  let kinds: string[] = [];
  const hostile = hostileRegistry(random, SPOILT_SHARE, () => {
    spoilt += 1;
  });
  while (spoilt < answers) {
    plays += 1;
    kinds = [];
    scene.registry.behaviour.misbehaviour = (call, body) => {
      const wrong = hostile(call, body);
      if (wrong !== undefined) kinds.push(`${call}: ${described(wrong)}`);
      return wrong;
    };
    const found = await scene.play({ mayHide: true });
    if (found.length > 0) harm.push([...found, ...kinds].join('\n'));
    if (plays % HONEST_EVERY > 0) continue;
    onProgress(`${spoilt} answers after ${secondsSince(began)} s`);
    harm.push(...(await scene.playHonestly()));
  }
  harm.push(...(await scene.playHonestly()));
  return {
    ...{ fuzz: 'registries', answers: spoilt, questions: plays, seed, seconds: secondsSince(began) },
    harm,
  };
}

/** The start of what was answered, for a finding. */
function described(wrong: Misbehaviour): string {
  return JSON.stringify(wrong, (_, value: unknown) =>
    value instanceof Uint8Array
      ? `${value.length} bytes`
      : typeof value === 'string'
        ? value.slice(0, 300)
        : value,
  ).slice(0, 1_000);
}

/** Repeats a question with each way in which the registries' answers may differ from what was recorded of them. */
export async function runRegistryDrift(
  { seed, cases: most, only, names, database }: DriftOptions,
  onProgress: (line: string) => void = () => undefined,
) {
  await using undo = new AsyncDisposableStack();
  const harm: string[] = [];
  watchCrashes((sentence) => harm.push(sentence), undo);
  const scene = await startRegistryScene(database, undo);
  const { behaviour } = scene.registry;
  const recorded: RecordedResponse[] = [];
  harm.push(...(await scene.playHonestly()));
  behaviour.misbehaviour = (call, body) => {
    recorded.push(structuredClone({ call, body }));
    return undefined;
  };
  await scene.play({ mayHide: false });
  const cases = names?.map(caseNamed) ?? chosenCases(driftCases(recorded), { seed, most, only });
  for (const [at, drifted] of cases.entries()) {
    let hits = 0;
    behaviour.misbehaviour = (call, body) => {
      const wrong = call === drifted.call ? drift(drifted, body, hits) : undefined;
      if (wrong !== undefined) hits += 1;
      return wrong;
    };
    const found: string[] = [];
    // On a busy machine it may be too late to ask a registry.
    for (let plays = 0; plays < MAX_REPEATS && hits === 0; plays += 1)
      found.push(...(await scene.play({ mayHide: TELLS_RETRACTION.test(drifted.name) })));
    if (hits === 0) found.push('no response was changed');
    harm.push(...found.map((sentence) => `${drifted.name}: ${sentence}`));
    if ((at + 1) % 50 === 0) onProgress(`${at + 1} of ${cases.length} cases of registries`);
  }
  harm.push(...(await scene.playHonestly()));
  return { cases: cases.length, harm };
}

/** The answer as the case has it, if this one is to be changed. */
function drift({ drift: how }: DriftCase, body: object, hits: number): Misbehaviour | undefined {
  if (how.kind === 'field') {
    const changed = how.change(body);
    return JSON.stringify(changed) === JSON.stringify(body) ? undefined : { kind: 'body', body: changed };
  }
  if (hits > 0) return undefined;
  if (how.body === 'html')
    return {
      kind: 'body',
      body: '<html><body>Back soon.</body></html>',
      headers: { 'content-type': 'text/html' },
    };
  if (how.body === 'torn') return { kind: 'body', body: JSON.stringify(body).slice(0, -5) };
  return { kind: 'body', body: { detail: 'Not today' }, status: how.status };
}
