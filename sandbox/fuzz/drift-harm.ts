import * as strings from '../../src/render/strings/index.ts';
import type { DriftCase } from './drift-cases.ts';
import { FILES, RESULTS, type Trace, WORDS } from './drift-conversation.ts';

/** The part of a sentence before what the service said. */
const start = (sentence: string) => sentence.split(/[.:“(]/)[0] ?? '';

const UNSENT = [
  strings.serviceFailed,
  strings.serviceUnreadable,
  start(strings.messageRejected('')),
  strings.projectNotFound,
  start(strings.projectForbidden('')),
  start(strings.newProjectRefused('')),
  strings.taskForbidden,
  strings.taskClosed,
];
const UNKNOWN_FATE = [strings.retriesExhausted, strings.taskNotFound];
const UNREAD = [
  start(strings.answerUnreadable('')),
  strings.answerTooLarge,
  strings.answerRefused,
  start(strings.agentFailed('')),
  strings.emptyAnswer,
  start(strings.unsupportedBlock('')),
];
const WAITING = [
  strings.waits.service_unreachable,
  strings.waits.service_busy,
  strings.waits.service_key,
  strings.waits.store,
];

/** Of a message that may never have arrived, and of an answer that nobody could read. */
const UNTOLD = [...UNSENT, ...UNKNOWN_FATE];
const UNANSWERED = [...UNTOLD, ...UNREAD];

/** What a conversation may lack, and the sentences of which one then stands there. */
const EXPLANATIONS = {
  'the first message at the service': UNTOLD,
  'the second message at the service': UNTOLD,
  'the files at the service': ['was left out', ...UNTOLD],
  'the first answer': UNANSWERED,
  'the results': [strings.resultsUnavailable, strings.resultsIncomplete, ...UNANSWERED],
  'the review': [
    start(strings.reviewFailed('')),
    strings.reviewEmpty,
    strings.reviewUnreadable,
    ...UNANSWERED,
  ],
  'the second answer': UNANSWERED,
  'the stop': [strings.finishedUnstopped, ...Object.values(strings.controlFailed), ...UNANSWERED],
  'the list': [],
  'the details': [
    strings.resultsIncomplete,
    strings.tasks.filesUnavailable,
    strings.tasks.fileNotFound,
    strings.tasks.states.gone,
  ],
} as const;

/** Judges what a conversation left behind with a service that differs so, if it does. */
export function judge(trace: Trace, drifted?: DriftCase) {
  const missing = missingParts(trace, drifted);
  const shown = [...trace.posts, trace.privately].join('\n');
  const harm = [
    ...trace.unended.map((what) => `${what} does not end`),
    ...doubled(trace, drifted),
    ...untrue(trace, shown, drifted),
    ...missing
      .filter((what) => !EXPLANATIONS[what].some((sentence) => shown.includes(sentence)))
      .map((what) => `nothing says that ${what} is missing`),
  ];
  const answers = ['the first answer', 'the second answer', 'the results'];
  return {
    /** One sentence for each problem. */
    harm,
    /** An answer or the results do not stand in the thread. */
    isAnswerMissing: missing.some((what) => answers.includes(what)),
  };
}

function missingParts(trace: Trace, drifted: DriftCase | undefined): (keyof typeof EXPLANATIONS)[] {
  const shown = trace.posts.join('\n');
  const all = `${shown}\n${trace.files}`;
  const heading = strings.resultsHeading(RESULTS.length, 1, RESULTS.length);
  const hasSecond = all.includes(WORDS.second) && (trace.isStopped || all.includes(WORDS.unstopped));
  const is: Record<keyof typeof EXPLANATIONS, boolean> = {
    'the first message at the service': trace.told.includes('Look at these tables'),
    'the second message at the service': trace.told.includes('Go on'),
    'the files at the service': trace.attached === FILES.length,
    'the first answer': all.includes(WORDS.begin) && all.includes(WORDS.end),
    'the results':
      shown.includes(heading) && (hasOtherNames(drifted) || RESULTS.every((name) => shown.includes(name))),
    'the review': all.includes(WORDS.review),
    'the second answer': hasSecond,
    'the stop': trace.isStopped,
    'the list': trace.told.length === 0 || trace.privately.includes('task_details'),
    'the details': hasOtherNames(drifted) || trace.kept.every((name) => trace.privately.includes(name)),
  };
  return (Object.keys(is) as (keyof typeof is)[]).filter(
    (what) => !is[what] && !isUnknowable(what, trace, drifted),
  );
}

/** Whether nobody can know that it is missing: the service says something else, or nothing of a review. */
function isUnknowable(what: string, { isStopped }: Trace, drifted: DriftCase | undefined): boolean {
  const { field = '', name = '' } = drifted ?? {};
  if (what === 'the review' && /(?:^|\.)(?:reviews|status)$/.test(field)) return true;
  if (/^the (?:results|details)$/.test(what) && /\/results\.data\.(?:empty|null)$/.test(name)) return true;
  const isAbout = what === 'the review' || what === 'the first answer' || what === 'the second answer';
  if (!isAbout || !/(?:^|\.)(?:content|text)(?:\.\[\])?$/.test(field)) return false;
  return /\.(?:unknownWord|numberAsText)$/.test(name) || (isStopped && what === 'the second answer');
}

/** Whether the service gives files other names. */
function hasOtherNames(drifted: DriftCase | undefined): boolean {
  return drifted !== undefined && /(?:^|\.)(?:name|filename)$/.test(drifted.field);
}

const TURNS = 2;

function doubled({ told, posts }: Trace, drifted: DriftCase | undefined): string[] {
  const isLonger = drifted?.name.endsWith('.longer') === true;
  const words = isLonger ? [] : Object.values(WORDS);
  const texts = posts.filter((text) => text.trim() !== '');
  /** Each turn may say the same of its own message or answer. */
  const isRepeated = (text: string) => texts.filter((other) => other === text).length > TURNS;
  return [
    ...told
      .filter((text, at) => told.indexOf(text) !== at)
      .map((text) => `"${text}" reached the service twice`),
    ...words
      .filter((word) => texts.filter((text) => text.includes(word)).length > 1)
      .map((word) => `"${word}" stands in two posts`),
    ...(isLonger ? [] : [...new Set(texts.filter(isRepeated))].map((text) => `posted twice: ${text}`)),
  ];
}

/** Sentences that claim what is not so. */
function untrue(trace: Trace, shown: string, drifted: DriftCase | undefined): string[] {
  const field = drifted?.field ?? '';
  const isEmpty = drifted?.name.endsWith('.empty') === true && /content|text/.test(field);
  const claims: [string, boolean][] = [
    ...UNSENT.map((sentence): [string, boolean] => [sentence, trace.told.length < 2]),
    [strings.emptyAnswer, isEmpty],
    [strings.reviewEmpty, isEmpty],
    [start(strings.agentFailed('')), /error/.test(field)],
    [start(strings.reviewFailed('')), /error/.test(field)],
    [start(strings.stopped('x')).replace(' by x', ' by'), trace.isStopped || trace.told.length < 2],
    ...WAITING.map((sentence): [string, boolean] => [sentence, false]),
  ];
  return [
    ...(trace.isUnfinished && trace.unended.length === 0 ? ['a post looks unfinished'] : []),
    ...claims
      .filter(([sentence, isTrue]) => !isTrue && shown.includes(sentence))
      .map(([sentence]) => `"${sentence}" is not so`),
  ];
}
