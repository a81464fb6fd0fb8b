import { type Dialect, defaultDialect } from './dialect.ts';

/** How sure a guess is. */
export type Sureness = 'high' | 'medium-high' | 'medium' | 'medium-low' | 'low' | 'unknown';

/** One point that the service's document leaves open. */
export interface Assumption {
  readonly point: string;
  /** What the client does, in words. */
  readonly taken: string;
  readonly sure: Sureness;
  /** The dialect's settings that change it; none where the client copes with every spelling by itself. */
  readonly settings: readonly (keyof Dialect)[];
}

/** The open points, from which the README's table of assumptions is printed. */
export const assumptions: readonly Assumption[] = [
  {
    point: 'path of Send a message',
    taken: 'the same as List messages',
    sure: 'high',
    settings: ['sendMessagePath'],
  },
  {
    point: '`model` in Send a message',
    taken: 'not sent; the tier is chosen when the task starts',
    sure: 'high',
    settings: ['sendMessageModelField'],
  },
  {
    point: 'item of `initial_messages`',
    taken: 'role and content',
    sure: 'low',
    settings: ['initialMessageRoleField', 'initialMessageContentField'],
  },
  {
    point: 'name of the flag against fallback models',
    taken: 'not sent; a setting names it',
    sure: 'unknown',
    settings: ['noFallbackField'],
  },
  {
    point: 'names of auto mode and plan mode',
    taken: 'not sent; a setting names each (`auto_mode` is likely), and it can then be chosen',
    sure: 'medium',
    settings: ['autoModeField', 'planModeField'],
  },
  {
    point: 'project of List tasks',
    taken: 'a query parameter',
    sure: 'medium-high',
    settings: ['listTasksProjectParam'],
  },
  {
    point: 'cursor of tasks and results',
    taken: 'asked for by the last id; repeated ids are dropped',
    sure: 'medium',
    settings: ['cursorParam', 'cursorField'],
  },
  {
    point: '`before_id` and `after_id` of messages',
    taken: 'exclusive (inclusive is coped with); after_id gives the next page forward',
    sure: 'medium-high',
    settings: ['messagesAfter'],
  },
  {
    point: 'body of POST /files',
    taken: 'project, file name, size and type; the purpose when set',
    sure: 'medium',
    settings: [
      'uploadProjectField',
      'uploadFilenameField',
      'uploadSizeField',
      'uploadMimeTypeField',
      'uploadPurpose',
    ],
  },
  {
    point: 'response of POST /files',
    taken: 'the first of these fields; a part size and headers are honoured',
    sure: 'medium-low',
    settings: ['uploadFileIdFields', 'uploadUrlFields', 'uploadPartSizeField', 'uploadHeadersField'],
  },
  { point: 'bytes of a single upload', taken: 'sent to its URL', sure: 'medium', settings: ['uploadMethod'] },
  {
    point: 'part numbers and sizes',
    taken: "from 1, in bytes, raised to keep within the most parts (S3's rules)",
    sure: 'medium',
    settings: ['firstPartNumber', 'partBytes', 'mostParts', 'leastPartBytes'],
  },
  {
    point: 'an expired part URL',
    taken: 'asked for again, once',
    sure: 'medium',
    settings: ['expiredLinkStatuses'],
  },
  {
    point: 'body of finalize',
    taken: 'upload id and parts sorted by number, ETags exactly as received',
    sure: 'medium',
    settings: ['finalizeUploadIdField', 'finalizePartsField', 'finalizePartNumberField', 'finalizeEtagField'],
  },
  {
    point: 'finalize of a single upload',
    taken: 'called with {}; these statuses are fine if Get a file shows the file',
    sure: 'medium',
    settings: ['finalizeSingle', 'finalizeDoneStatuses'],
  },
  {
    point: 'response of finalize',
    taken: 'any 2xx; a File is used, else Get a file',
    sure: 'low',
    settings: [],
  },
  {
    point: "response of a file's content",
    taken: 'bytes, a redirect, or JSON with a link (told apart by the size of the file)',
    sure: 'low',
    settings: ['fileContent', 'fileContentUrlFields'],
  },
  {
    point: 'body of an error',
    taken: "the first of these places, else the body's text",
    sure: 'medium',
    settings: ['errorWords', 'requestIdHeader'],
  },
  { point: 'status of a bad key', taken: 'not tried again', sure: 'medium', settings: ['badKeyStatuses'] },
  { point: 'status of a busy task', taken: 'the message waits', sure: 'unknown', settings: ['busyStatuses'] },
];

/** The assumptions as a Markdown table for the README. */
export function assumptionsTable(): string {
  const rows = assumptions.map(({ point, taken, sure, settings }) => {
    const set = settings.map((setting) => `\`${setting}\`: \`${shown(setting)}\``).join('<br>');
    return `| ${point} | ${taken} | ${sure} | ${set === '' ? '-' : set} |`;
  });
  return ['| open point | taken as | sure | setting: default |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function shown(setting: keyof Dialect): string {
  return JSON.stringify(defaultDialect[setting]);
}
