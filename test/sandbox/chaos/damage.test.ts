import { describe, expect, test } from 'vitest';
import { DAMAGE_KINDS, type Damage, type Findings, findDamage } from '../../../sandbox/chaos/damage.ts';
import { post, undamagedRun } from '../../support/chaos-findings.ts';

type Run = ReturnType<typeof undamagedRun>;

/** How many cases of each kind there are; kinds without any are left out. */
function counts(findings: Findings): Partial<Record<keyof Damage, number>> {
  const damage = findDamage(findings);
  const found = DAMAGE_KINDS.filter((kind) => damage[kind].length > 0);
  return Object.fromEntries(found.map((kind) => [kind, damage[kind].length]));
}

/** The whole run with its one task or thread changed. */
function withTask(change: (task: Run['tasks'][number]) => Partial<Run['tasks'][number]>): Findings {
  const run = undamagedRun();
  return { ...run, tasks: run.tasks.map((task) => ({ ...task, ...change(task) })) };
}

function withPosts(
  change: (posts: Run['threads'][number]['posts']) => Run['threads'][number]['posts'],
): Findings {
  const run = undamagedRun();
  return { ...run, threads: run.threads.map((thread) => ({ ...thread, posts: change(thread.posts) })) };
}

describe('the comparison', () => {
  test('finds nothing in a run without damage', () => {
    expect(counts(undamagedRun())).toEqual({});
  });

  test('a message that no task holds is lost', () => {
    expect(counts(withTask(({ messages }) => ({ messages: messages.slice(1) })))).toEqual({ lost: 1 });
  });

  test('a message that Slack gave up may be missing, and counts where it is there twice', () => {
    const run = withTask(({ messages }) => ({ messages: messages.slice(1) }));
    const said = run.said.map((message, index) => ({ ...message, wasDelivered: index > 0 }));
    expect(counts({ ...run, said })).toEqual({});
    const twice = withTask(({ messages }) => ({ messages: [...messages.slice(0, 1), ...messages] }));
    expect(counts({ ...twice, said }).duplicated).toBeGreaterThan(0);
  });

  test('an edited message counts with either text, a deleted one or one in a stopped thread may be missing', () => {
    const run = undamagedRun();
    const edited = run.said.map((message, index) =>
      index === 0 ? { ...message, editedText: 'look again' } : message,
    );
    expect(counts({ ...run, said: edited })).toEqual({});
    const [first, ...rest] = run.tasks[0]?.messages ?? [];
    const after = { text: 'look again', files: first?.files ?? [] };
    expect(counts({ ...withTask(() => ({ messages: [after, ...rest] })), said: edited })).toEqual({});
    const both = withTask(({ messages }) => ({ messages: [...messages, after] }));
    expect(counts({ ...both, said: edited }).duplicated).toBeGreaterThan(0);
    const without = withTask(({ messages }) => ({ messages: messages.slice(1) }));
    for (const excuse of [{ wasDeleted: true }, { wasStopped: true }]) {
      const said = run.said.map((message, index) => (index === 0 ? { ...message, ...excuse } : message));
      expect(counts({ ...without, said })).toEqual({});
    }
  });

  test('replies in another order than in their task are out of order, and an empty one is not missed', () => {
    expect(counts(withPosts((posts) => posts.toReversed())).outOfOrder).toBeGreaterThan(0);
    expect(counts(withTask(({ replies }) => ({ replies: [...replies, ''] })))).toEqual({});
  });

  test('of two messages with the same words, one that is missing is lost', () => {
    expect(counts(withTask(({ messages }) => ({ messages: messages.slice(0, 2) })))).toEqual({ lost: 1 });
  });

  test('a thread without any task has lost all its messages', () => {
    const run = undamagedRun();
    expect(findDamage({ ...run, tasks: [] }).lost).toHaveLength(3);
  });

  test('a file that did not go with its message is lost, one that has other bytes is lost and foreign', () => {
    const files = (held: string[]) =>
      withTask(({ messages: [first, ...rest] }) => ({
        messages: [{ text: first?.text ?? '', files: held }, ...rest],
      }));
    expect(counts(files([]))).toEqual({ lost: 1 });
    expect(counts(files(['a.csv 11']))).toEqual({ lost: 1, duplicated: 1 });
  });

  test('a file that went twice with its message is duplicated', () => {
    const twice = withTask(({ messages: [, ...rest] }) => ({
      messages: [{ text: 'look at this', files: ['a.csv 00', 'a.csv 00'] }, ...rest],
    }));
    expect(counts(twice)).toEqual({ duplicated: 1 });
  });

  test('a message that is held more often than it was said is duplicated', () => {
    const again = { text: 'go on', files: [] };
    expect(counts(withTask(({ messages }) => ({ messages: [...messages, again] })))).toEqual({
      duplicated: 1,
    });
  });

  test('a message that nobody said is counted', () => {
    const foreign = { text: 'who said this?', files: [] };
    const found = counts(withTask(({ messages }) => ({ messages: [...messages, foreign] })));
    expect(found).toEqual({ duplicated: 1 });
  });

  test('a second task of a thread is duplicated, even where each message is held once', () => {
    const run = undamagedRun();
    const [task] = run.tasks;
    const split = [
      { ...task, messages: task?.messages.slice(0, 2) ?? [] },
      { ...task, id: 'tsk_2', messages: task?.messages.slice(2) ?? [], replies: [], results: [] },
    ].map((one) => ({ id: '', project: '', replies: [], results: [], ...one }));
    expect(counts({ ...run, tasks: split })).toEqual({ duplicated: 1 });
  });

  test('a second project of a channel that is in use is duplicated', () => {
    const run = undamagedRun();
    const other = { thread: 'C1/2.000001', channel: 'C1', ts: '2.000001', text: 'elsewhere', files: [] };
    const task = {
      id: 'tsk_2',
      project: 'prj_2',
      messages: [{ text: 'elsewhere', files: [] }],
      replies: [],
      results: [],
    };
    expect(counts({ ...run, said: [...run.said, other], tasks: [...run.tasks, task] })).toEqual({
      duplicated: 1,
    });
  });

  test('a message in the task of another thread is lost to its own', () => {
    const run = undamagedRun();
    const other = { thread: 'C1/2.000001', channel: 'C1', ts: '2.000001', text: 'elsewhere', files: [] };
    const findings = withTask(({ messages }) => ({
      messages: [...messages, { text: 'elsewhere', files: [] }],
    }));
    expect(findDamage({ ...findings, said: [...run.said, other] }).lost).toHaveLength(1);
  });

  test('a reply that stands twice in the thread is duplicated', () => {
    const again = post({ key: 't2/reply:0', answer: 'Second reply.', otherText: 'Took 3 s.' });
    expect(counts(withPosts((posts) => [...posts, again]))).toEqual({ duplicated: 1 });
  });

  test('a reply that is missing, cut off or changed is wrong', () => {
    expect(counts(withPosts((posts) => posts.slice(0, -1)))).toEqual({ repliesWrong: 1 });
    const cut = withPosts((posts) =>
      posts.map((one) => ({ ...one, answer: one.answer.replace('Third ', '') })),
    );
    // It is not what the agent said, and what stands there is nothing that the agent said.
    expect(counts(cut)).toEqual({ repliesWrong: 2 });
  });

  test('the rest of a draft that stands beside the whole reply is wrong', () => {
    const draft = post({ answer: 'Second re', key: 't2/reply:0' });
    expect(counts(withPosts((posts) => [...posts, draft]))).toEqual({ repliesWrong: 1 });
  });

  test('results that are not posted are wrong, results posted twice are duplicated', () => {
    expect(
      counts(withPosts((posts) => posts.filter(({ otherText }) => !otherText.includes('result-1')))),
    ).toEqual({
      repliesWrong: 1,
    });
    const again = post({ otherText: '1 file from the agent\nresult-1.csv', key: 't1/results:0' });
    expect(counts(withPosts((posts) => [...posts, again]))).toEqual({ duplicated: 1 });
  });

  test('a second post without an answer under one key is duplicated', () => {
    const again = post({ key: 't1/reply:0', otherText: 'Got it' });
    expect(counts(withPosts((posts) => [...posts, again]))).toEqual({ duplicated: 1 });
  });

  test('of two messages that waited together, the later one sent first is out of order', () => {
    const run = undamagedRun();
    const sent = new Map([['C1/1.000001', ['1.000001', '1.000003', '1.000002']]]);
    expect(counts({ ...run, sent })).toEqual({ outOfOrder: 1 });
    expect(counts({ ...run, sent, waitingPairs: [] })).toEqual({});
  });

  test('unfinished turns, progress left behind and waiting reactions are stuck', () => {
    const run = undamagedRun();
    expect(counts({ ...run, unfinished: 2 })).toEqual({ stuck: 1 });
    expect(counts(withPosts((posts) => posts.map((one) => ({ ...one, looksUnfinished: true }))))).toEqual({
      stuck: 5,
    });
    const marked = run.threads.map((thread) => ({ ...thread, waitingReactions: 2 }));
    expect(counts({ ...run, threads: marked })).toEqual({ stuck: 2 });
  });
});
