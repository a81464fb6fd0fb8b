import { describe, expect, test } from 'vitest';
import type { OpenTurn } from '../../../sandbox/chaos/bot-database.ts';
import { RESULT_REQUEST, scriptedReply } from '../../../sandbox/chaos/chaos-agent.ts';
import { parseChaosOptions } from '../../../sandbox/chaos/chaos-options.ts';
import { hasPassed, reportLine } from '../../../sandbox/chaos/chaos-report.ts';
import { WaitingPairs } from '../../../sandbox/chaos/database-observer.ts';
import { CallNotifier, ObservedFaults } from '../../../sandbox/chaos/fault-profile.ts';
import { KILL_STEPS, killStepOf } from '../../../sandbox/chaos/kill-step.ts';
import { createRandomStreams, shuffled } from '../../../sandbox/chaos/random-streams.ts';

describe('the options', () => {
  test('one process hears of events by HTTP, several by Socket Mode, unless asked otherwise', () => {
    const usual = {
      kills: 20,
      seed: 1,
      otherHosts: false,
      workflows: false,
      streams: false,
      questions: false,
      again: false,
      records: false,
      sources: false,
      replicas: 1,
      transport: 'http',
      delay: 30,
      tls: false,
      logs: undefined,
    };
    expect(parseChaosOptions([])).toEqual(usual);
    const network = { ...usual, kills: 0, networkFaultSeconds: 12, tls: true };
    expect(parseChaosOptions(['--network', '12', '--tls'])).toEqual(network);
    expect(parseChaosOptions(['--kills', '5', '--seed', '7', '--replicas', '2'])).toEqual({
      ...usual,
      kills: 5,
      seed: 7,
      replicas: 2,
      transport: 'socket',
    });
    expect(parseChaosOptions(['--transport', 'socket'])).toEqual({ ...usual, transport: 'socket' });
    expect(parseChaosOptions(['--other-hosts'])).toEqual({ ...usual, otherHosts: true });
  });

  test('a run with things that stay bad takes its seed', () => {
    expect(parseChaosOptions(['--poison', '7'])).toEqual({ poison: true, seed: 7, logs: undefined });
  });

  test('an option that makes no sense is named', () => {
    expect(() => parseChaosOptions(['--kills', 'many'])).toThrow('--kills');
    expect(() => parseChaosOptions(['--murders', '3'])).toThrow('--murders');
  });
});

describe('the seed', () => {
  test('gives the same numbers again, and others to another purpose', () => {
    const numbers = (random: () => number) => Array.from({ length: 5 }, random);
    expect(numbers(createRandomStreams(7).people)).toEqual(numbers(createRandomStreams(7).people));
    expect(numbers(createRandomStreams(7).people)).not.toEqual(numbers(createRandomStreams(7).kills));
    expect(numbers(createRandomStreams(7).people)).not.toEqual(numbers(createRandomStreams(8).people));
  });

  test('shuffles without losing any', () => {
    expect(shuffled(createRandomStreams(3).kills, ['a', 'b', 'c']).toSorted()).toEqual(['a', 'b', 'c']);
  });
});

describe('the agent', () => {
  test('answers the same message the same, and the same words said again differently', () => {
    expect(scriptedReply('go on', 0)).toEqual(scriptedReply('go on', 0));
    expect(scriptedReply('go on', 0).pieces[0]).not.toBe(scriptedReply('go on', 1).pieces[0]);
  });

  test('leaves a file where it is asked for one', () => {
    expect(scriptedReply('hello', 0).results).toEqual([]);
    expect(scriptedReply(`hello and ${RESULT_REQUEST}`, 0).results.length).toBeGreaterThan(0);
  });
});

describe('the step that a kill hits', () => {
  const before: OpenTurn = {
    hasReply: false,
    hasProject: false,
    hasTask: false,
    hasFiles: true,
    hasContent: false,
    hasSendIntent: false,
    userMessageId: null,
    assistantMessageId: null,
    isSettled: false,
  };
  const progress: Partial<OpenTurn>[] = [
    {},
    { hasReply: true },
    { hasProject: true },
    { hasTask: true },
    { hasFiles: false },
    { hasContent: true },
    { hasSendIntent: true },
    { userMessageId: 'u1' },
    { assistantMessageId: 'a1' },
  ];

  test('follows the rows of the turn', () => {
    let turn = before;
    const steps = progress.map((change) => {
      turn = { ...turn, ...change };
      return killStepOf(turn, new Set());
    });
    steps.push(killStepOf(turn, new Set(['a1'])), killStepOf({ ...turn, isSettled: true }, new Set(['a1'])));
    expect(steps).toEqual(KILL_STEPS);
  });
});

describe('the watch over waiting messages', () => {
  const row = (ts: string, state: string) => ({ channel: 'C1', thread_ts: '1.000001', ts, state });

  test('remembers who waited beside the earliest, and forgets nothing', () => {
    const watch = new WaitingPairs();
    watch.record([row('1.000003', 'waiting'), row('1.000002', 'waiting'), row('1.000001', 'sending')]);
    watch.record([row('1.000003', 'waiting'), row('1.000002', 'sent')]);
    expect(watch.pairs).toEqual([{ thread: 'C1/1.000001', earlier: '1.000002', later: '1.000003' }]);
  });
});

describe('the call notifier', () => {
  test('reports a call before it is handled, once', () => {
    const notifier = new CallNotifier();
    const faults = new ObservedFaults(Math.random, (call) => notifier.notify('slack', call));
    let calls = 0;
    notifier.onNext('slack', /^chat\.update$/, () => {
      calls += 1;
    });
    faults.hit('chat.postMessage');
    expect(calls).toBe(0);
    faults.hit('chat.update');
    faults.hit('chat.update');
    expect(calls).toBe(1);
  });
});

describe('the report', () => {
  const stats = {
    kills: 2,
    messages: 6,
    killsByStep: new Map([['sending', 2] as const]),
    seconds: 1.5,
    seed: 1,
    replicas: 1,
    files: 2,
    freezes: 0,
    undelivered: 0,
    orphanedTasks: 0,
    orphanedProjects: 0,
    failedStarts: 0,
    faultKinds: { databaseFaults: ['reset', 'killed'], networkFaults: ['slackSilent'] },
    recoverySeconds: new Map([['reset', 2.5]]),
    lateStops: 0,
    interventions: { edits: 1, deletions: 0, stops: 0, presses: 0 },
    directMessages: 0,
    streams: 0,
    reminders: undefined,
    reminderKills: 0,
    workflows: undefined,
    again: undefined,
    records: undefined,
    sources: undefined,
  };
  const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };

  test('is one line with every step and every kind of damage', () => {
    const line = reportLine({ ...none, lost: ['this', 'and that'] }, stats);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      chaos: true,
      kills: 2,
      messages: 6,
      lost: 2,
      stuck: 0,
      databaseFaults: { reset: 1, killed: 0 },
      networkFaults: { slackSilent: 0 },
      recoverySeconds: { reset: 2.5 },
      seconds: 1.5,
    });
    expect(Object.keys(JSON.parse(line).killsByStep)).toEqual([...KILL_STEPS]);
  });

  test('knows a run that passed', () => {
    expect(hasPassed(none, stats)).toBe(true);
    expect(hasPassed({ ...none, stuck: ['a mark'] }, stats)).toBe(false);
    expect(hasPassed(none, { ...stats, failedStarts: 1 })).toBe(false);
    expect(hasPassed(none, { ...stats, lateStops: 1 })).toBe(false);
    expect(hasPassed(none, { ...stats, reminders: 0 })).toBe(false);
    expect(hasPassed(none, { ...stats, recoverySeconds: new Map([['killed', 16]]) })).toBe(false);
    const workflows = { executions: 3, completedOnce: 2, leftOpen: 1 };
    expect(hasPassed(none, { ...stats, workflows })).toBe(false);
    expect(JSON.parse(reportLine(none, { ...stats, workflows }))).toMatchObject(workflows);
    const records = { recordsAsked: 2, recordsSentOnce: 1, recordsLeftOver: 0, recordKills: 1 };
    expect(hasPassed(none, { ...stats, records })).toBe(false);
    const sent = { ...records, recordsSentOnce: 2 };
    expect(hasPassed(none, { ...stats, records: sent })).toBe(true);
    expect(hasPassed(none, { ...stats, records: { ...sent, recordsLeftOver: 1 } })).toBe(false);
    expect(JSON.parse(reportLine(none, { ...stats, records }))).toMatchObject(records);
    const again = { askedAgain: 3, linkedOnce: 2, linkKills: 1 };
    expect(hasPassed(none, { ...stats, again })).toBe(false);
    expect(hasPassed(none, { ...stats, again: { ...again, linkedOnce: 3 } })).toBe(true);
    expect(hasPassed(none, { ...stats, again: { ...again, askedAgain: 0, linkedOnce: 0 } })).toBe(false);
    expect(JSON.parse(reportLine(none, { ...stats, again }))).toMatchObject(again);
    const sources = { lists: 4, listsMarked: 4, replacementsAsked: 2, replacedOnce: 1, sourceKills: 1 };
    expect(hasPassed(none, { ...stats, sources })).toBe(false);
    const replaced = { ...sources, replacedOnce: 2 };
    expect(hasPassed(none, { ...stats, sources: replaced })).toBe(true);
    expect(hasPassed(none, { ...stats, sources: { ...replaced, listsMarked: 3 } })).toBe(false);
    expect(JSON.parse(reportLine(none, { ...stats, sources }))).toMatchObject(sources);
  });
});
