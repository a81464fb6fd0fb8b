import { describe, expect, test } from 'vitest';
import { judge, type PlayedHour, type SaidInThread, type ThreadRecord } from '../../bench/manners-judge.ts';
import { blockquote } from '../../src/relay/reading/message-to-markdown.ts';
import { withQuotation, withUnnamedWriter, withWriterName } from '../../src/render/prompt-frame.ts';
import * as strings from '../../src/render/strings/index.ts';

const said = (root: string, text: string, kind: SaidInThread['kind'], more: Partial<SaidInThread> = {}) => ({
  root,
  ts: '100.000000',
  text,
  kind,
  isBetweenPeople: false,
  hasFile: false,
  comesWithMore: false,
  pointsAt: [],
  isNoticed: true,
  ...more,
});

const quotation = `${strings.earlierInThread('the newest message')}\n\n${blockquote('**grace**:\nwho has the plate?')}`;

/** An hour in which a bot with manners was recorded. */
const HOUR: PlayedHour = {
  names: ['ada', 'grace'],
  said: [
    said('1', 'who has the plate?', 'talk'),
    said('1', 'how many groups do we need?', 'question', {
      pointsAt: [{ kind: 'words', words: '> who has the plate?' }],
    }),
    said('1', 'ok', 'question'),
    said('1', 'see you at noon', 'talk'),
    said('2', 'shall I go on?', 'question'),
    said('2', 'yes', 'answer'),
    said('2', '', 'question', { comesWithMore: true }),
    said('2', 'which is an outlier?', 'question', {
      comesWithMore: true,
      pointsAt: [{ kind: 'file', content: 'a,b\n' }],
    }),
    said('2', '', 'call'),
    said('3', 'good morning', 'talk'),
  ],
  sentByPresses: [{ root: '2', text: strings.continueMessage }],
};
const GROUPS = withWriterName(withQuotation(quotation, 'how many groups do we need?'), 'ada');
const OK = withUnnamedWriter(withWriterName('ok', 'grace'), 'ada');
const PROMPTS: Record<string, readonly string[]> = {
  1: [GROUPS, OK],
  2: [
    'shall I go on?',
    'yes',
    '> Forwarded message from @ada:\n> why?',
    'which is an outlier?\n\n| a | b |',
    strings.continueMessage,
  ],
  3: [],
};

/** The hour with other prompts in some threads, judged. */
function judged(other: Record<string, readonly string[]>, hour = HOUR) {
  const threads = Object.entries({ ...PROMPTS, ...other }).map(([root, prompts]): [string, ThreadRecord] => [
    root,
    { received: prompts.map((prompt) => ({ prompt, at: 103_000 })), files: ['a,b\n'], shown: '' },
  ]);
  const { answerSeconds, ...harm } = judge(hour, new Map(threads));
  const found = Object.entries(harm).filter(([, list]) => list.length > 0);
  return {
    answerSeconds,
    harm: Object.fromEntries(found.map(([kind, list]) => [kind, list.map(({ text }) => text)])),
  };
}

describe('the judge of manners', () => {
  test('finds no harm in an hour of a bot with manners, and the time to an answer', () => {
    expect(judged({})).toEqual({ answerSeconds: [3], harm: {} });
  });

  test.each([
    [
      'to a thread that the agent is in',
      { 1: [GROUPS, OK, withWriterName('see you at noon', 'ada')] },
      'see you at noon',
    ],
    ['to a thread of people', { 3: ['good morning'] }, 'good morning'],
  ])('finds talk that was let through %s', (_, prompts, text) => {
    expect(judged(prompts).harm).toEqual({ talk: [text] });
  });

  test('finds a question that was held back, and one that nobody noticed', () => {
    expect(judged({ 1: [GROUPS] }).harm).toEqual({ missed: ['ok'] });
    const unnoticed = HOUR.said.map((one) => ({ ...one, isNoticed: one.text !== 'ok' }));
    expect(judged({ 1: [GROUPS] }, { ...HOUR, said: unnoticed }).harm).toEqual({
      missed: ['ok'],
      ignored: ['ok'],
    });
  });

  test('finds talk that came in the place of a question', () => {
    const talk = withUnnamedWriter(withWriterName('see you at noon', 'grace'), 'ada');
    expect(judged({ 1: [GROUPS, talk] }).harm).toEqual({ missed: ['ok'], talk: ['see you at noon'] });
  });

  test('finds what was sent again', () => {
    expect(judged({ 1: [GROUPS, OK, withWriterName('ok', 'grace')] }).harm).toEqual({ repeated: ['ok'] });
  });

  test('finds what people pointed at and the agent has not got', () => {
    const without = withWriterName('how many groups do we need?', 'ada');
    expect(judged({ 1: [without, OK] }).harm).toEqual({ missedInput: ['how many groups do we need?'] });
  });

  test.each([
    ['before it', `(Everybody here is a chemist.)\n\n${OK}`],
    ['below it', `${OK}\n\n(Everybody here is a chemist.)`],
    ['of a person below it', `${OK}\n\n> see you at noon`],
  ])(
    'says that it cannot read a prompt with a sentence %s that no function of the frame makes',
    (_, prompt) => {
      expect(judged({ 1: [GROUPS, prompt] }).harm).toMatchObject({
        unread: [expect.stringContaining('ok')],
      });
    },
  );

  test('refuses an hour in which the same is said to the agent and to people in one thread', () => {
    const twin = { ...HOUR, said: [...HOUR.said, said('1', 'ok', 'talk')] };
    expect(() => judged({}, twin)).toThrow('“ok” is said to the agent and to people in one thread');
  });
});
