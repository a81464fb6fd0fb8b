import type { BotPost, Findings, SaidMessage, ServiceTask } from '../../sandbox/chaos/damage.ts';

const thread = 'C1/1.000001';

/** A post as it stands in a thread at the end. */
export function post(shown: Partial<BotPost>): BotPost {
  return { answer: '', otherText: '', key: undefined, looksUnfinished: false, ...shown };
}

function said(ts: string, text: string, files: string[] = []): SaidMessage {
  return { thread, channel: 'C1', ts, text, files };
}

/** A run in which nothing went wrong: three messages in a thread, two of them the same words, one with a file. */
export function undamagedRun() {
  const task = {
    id: 'tsk_1',
    project: 'prj_1',
    messages: [
      { text: 'look at this', files: ['a.csv 00'] },
      { text: 'go on', files: [] },
      { text: 'go on', files: [] },
    ],
    replies: ['First reply.\n\nIt has two paragraphs.', 'Second reply.', 'Third reply.'],
    results: ['result-1.csv'],
  } satisfies ServiceTask;
  const posts = [
    post({ key: 't1/reply:0', answer: 'First reply.', otherText: 'Took 3 s.' }),
    post({ key: 't1/reply:1', answer: 'It has two paragraphs.' }),
    post({ key: 't1/results:0', otherText: '1 file from the agent\nresult-1.csv\nDownload' }),
    post({ key: 't2/reply:0', answer: 'Second reply.', otherText: 'Took 3 s.' }),
    post({ key: 't3/reply:0', answer: 'Third reply.', otherText: 'Took 3 s.' }),
  ];
  return {
    said: [
      said('1.000001', 'look at this', ['a.csv 00']),
      said('1.000002', 'go on'),
      said('1.000003', 'go on'),
    ],
    tasks: [task],
    threads: [{ thread, posts, waitingReactions: 0 }],
    waitingPairs: [{ thread, earlier: '1.000002', later: '1.000003' }],
    sent: new Map([[thread, ['1.000001', '1.000002', '1.000003']]]),
    unfinished: 0,
  } satisfies Findings;
}
