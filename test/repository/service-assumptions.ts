import { DEFAULT_SERVICE_OPTIONS, type ServiceOptions } from '../../src/agent/service-options.ts';

export type Confidence = 'high' | 'medium-high' | 'medium' | 'medium-low' | 'low' | 'unknown';

/** A point that the service's document leaves open. */
export interface Assumption {
  readonly point: string;
  /** What the client does. */
  readonly assumedAs: string;
  readonly confidence: Confidence;
  /** The settings that change it; none if the client accepts every variant. */
  readonly settings: readonly (keyof ServiceOptions)[];
}

/** The open points, as docs/service-assumptions.md lists them. */
export const ASSUMPTIONS: readonly Assumption[] = [
  {
    point: 'path of Send a message',
    assumedAs: 'the same as List messages',
    confidence: 'high',
    settings: ['sendMessagePath'],
  },
  {
    point: 'name of the flag against fallback models',
    assumedAs: 'not sent unless a setting names it',
    confidence: 'unknown',
    settings: ['noFallbackField'],
  },
  {
    point: 'names of auto mode and plan mode',
    assumedAs: 'not sent unless a setting names them (`auto_mode` is likely); people can then choose them',
    confidence: 'medium',
    settings: ['autoModeField', 'planModeField'],
  },
  {
    point: 'project of List tasks',
    assumedAs: 'a query parameter',
    confidence: 'medium-high',
    settings: ['listTasksProjectParam'],
  },
  {
    point: 'cursor of tasks and results',
    assumedAs: 'the last id is passed on; repeated ids are dropped',
    confidence: 'medium',
    settings: ['cursorParam', 'cursorField'],
  },
  {
    point: '`before_id` and `after_id` of messages',
    assumedAs:
      'exclusive (inclusive and an ignored `after_id` work too); after_id returns the next page forward',
    confidence: 'medium-high',
    settings: ['messagesAfter'],
  },
  {
    point: 'body of POST /files',
    assumedAs: 'project, file name, size and type; the purpose if set',
    confidence: 'medium',
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
    assumedAs: 'the first of these fields; a part size and headers are used if present',
    confidence: 'medium-low',
    settings: ['uploadFileIdFields', 'uploadUrlFields', 'uploadPartSizeField', 'uploadHeadersField'],
  },
  {
    point: 'bytes of a single upload',
    assumedAs: 'sent to its URL',
    confidence: 'medium',
    settings: ['uploadMethod'],
  },
  {
    point: 'part numbers and sizes',
    assumedAs: "from 1, in bytes, raised to S3's least size, and if there would be too many parts",
    confidence: 'medium',
    settings: ['firstPartNumber', 'partBytes', 'mostParts', 'leastPartBytes'],
  },
  {
    point: 'an expired part URL or download link',
    assumedAs: 'requested again, once',
    confidence: 'medium',
    settings: ['expiredLinkStatuses'],
  },
  {
    point: 'body of finalize',
    assumedAs: 'upload id and parts sorted by number, ETags exactly as received',
    confidence: 'medium',
    settings: ['finalizeUploadIdField', 'finalizePartsField', 'finalizePartNumberField', 'finalizeEtagField'],
  },
  {
    point: 'finalize of a single upload',
    assumedAs: 'called with {}; these statuses are accepted if Get a file shows the file',
    confidence: 'medium',
    settings: ['finalizeSingle', 'finalizeDoneStatuses'],
  },
  {
    point: 'response of finalize',
    assumedAs: 'any 2xx; a File is used, else Get a file',
    confidence: 'low',
    settings: [],
  },
  {
    point: "response of a file's content",
    assumedAs: 'bytes, a redirect, or JSON with a link (distinguished by the size of the file)',
    confidence: 'low',
    settings: ['fileContentUrlFields'],
  },
  {
    point: 'body of an error',
    assumedAs: "the first of these fields, else the body's text",
    confidence: 'medium',
    settings: ['errorWords', 'requestIdHeader'],
  },
  {
    point: 'status of a bad key',
    assumedAs: 'not retried; 403 only if a task that cannot exist is refused, too',
    confidence: 'medium',
    settings: ['badKeyStatuses'],
  },
  {
    point: 'status of a busy task',
    assumedAs: 'the message waits; to what creates or renames something, a refusal after a few tries',
    confidence: 'unknown',
    settings: ['busyStatuses'],
  },
];

/** The assumptions as a Markdown table. */
export function assumptionsTable(): string {
  const rows = ASSUMPTIONS.map(({ point, assumedAs, confidence, settings }) => {
    const set = settings.map((setting) => `\`${setting}\`: \`${defaultAsJson(setting)}\``).join('<br>');
    return `| ${point} | ${assumedAs} | ${confidence} | ${set === '' ? '-' : set} |`;
  });
  return [
    '| open point | assumed as | confidence | setting: default |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function defaultAsJson(setting: keyof ServiceOptions): string {
  return JSON.stringify(DEFAULT_SERVICE_OPTIONS[setting]);
}
