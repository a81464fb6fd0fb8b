import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorForResponse, errorText } from '../../src/agent/error-mapping.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';
import { createLogger } from '../../src/operate/logger.ts';
import { anyCharacter } from '../support/any-character.ts';

const words = (body: unknown) =>
  errorText(typeof body === 'string' ? body : JSON.stringify(body), DEFAULT_SERVICE_OPTIONS.errorWords);

describe('errorText', () => {
  test.each([
    [{ error: { message: 'first' }, detail: 'second' }, 'first'],
    [{ error: 'plain', message: 'later' }, 'plain'],
    [{ error: { code: 5 }, detail: 'by detail' }, 'by detail'],
    [{ detail: [{ loc: ['body', 'title'], msg: 'too long' }] }, 'body.title: too long'],
    [{ detail: [{ loc: ['a', 0], msg: 'x' }, { msg: 'y' }] }, 'a.0: x; y'],
    [{ detail: { code: 'quota', message: 'by its message' } }, 'by its message'],
    [{ message: 'a message', title: 'a title' }, 'a message'],
    [{ type: 'about:blank', title: 'a title' }, 'a title'],
    [{ error: '', title: 'not empty' }, 'not empty'],
    ['plain text\n over lines', 'plain text over lines'],
    ['', ''],
    ['<html><head><title>Bad gateway</title></head><body>Nothing here</body></html>', 'Bad gateway'],
    ['<html><body>Bad gateway</body></html>', ''],
    ['<!DOCTYPE html><title>Back soon</title>', 'Back soon'],
    ['<3 files are allowed', '<3 files are allowed'],
    ['<b> is no type of file', '<b> is no type of file'],
    [
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>',
      'AccessDenied: Request has expired',
    ],
  ])('finds the reason in %j', (body, reason) => {
    expect(words(body)).toBe(reason);
  });

  test.each([
    JSON.stringify({ error: { message: 'Ada asked about patient 7' } }),
    '{"detail":"Ada asked about patient 7"',
    'Ada asked about patient 7',
  ])('is not in what the log gets of an error: %s', async (body) => {
    for (const status of [303, 400, 403, 404, 409, 422, 429, 500]) {
      const response = {
        url: new URL('https://service.example/x'),
        status,
        header: () => undefined,
        body: Readable.from([Buffer.from(body)]),
        wasCompressed: false,
      };
      const serviceOptions = DEFAULT_SERVICE_OPTIONS;
      const context = {
        name: 'GET /x',
        target: 'service',
        serviceOptions,
        redact: (text: string) => text,
      } as const;
      const error = await errorForResponse(context, response);
      const lines: string[] = [];
      const destination = { write: (line: string) => void lines.push(line) };
      createLogger({ level: 'trace', destination }).error({ err: error }, 'a call failed');
      expect(lines.join('')).toContain('a call failed');
      expect(lines.join('')).not.toContain('patient');
    }
  });

  test('accepts any body and stays short', () => {
    const bodies = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 700 }),
      fc.json(),
      fc.record({ error: fc.jsonValue(), detail: fc.jsonValue() }).map((body) => JSON.stringify(body)),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        const reason = errorText(body, DEFAULT_SERVICE_OPTIONS.errorWords);
        expect(reason.length).toBeLessThanOrEqual(501);
        expect(reason).not.toContain('\n');
      }),
    );
  });
});
