import { expect, test } from 'vitest';
import { otherPlace } from '../../src/slack/file-response.ts';
import { mayReceiveToken } from '../../src/slack/slack-client.ts';

test.each([
  'https://files.slack.com/files-pri/T1-F1/x.csv',
  'https://slack.com/x',
  'https://acme.enterprise.slack.com/x',
])('%s is at Slack', (url) => {
  expect(mayReceiveToken(url)).toBe(true);
});

test.each([
  'http://files.slack.com/x',
  'https://files.slack.com:8443/x',
  'https://files.slack.com.evil.example/x',
  'https://evilslack.com/x',
  'https://evil.example/files.slack.com',
  'https://files.slack.com@evil.example/x',
  'https://user:pass@files.slack.com/x',
  'ftp://files.slack.com/x',
  'files.slack.com/x',
  '',
])('%s gets no token', (url) => {
  expect(mayReceiveToken(url)).toBe(false);
});

test('the sandbox’s own origin gets the token, other ports do not', () => {
  const api = 'http://127.0.0.1:4000/api/';
  expect(mayReceiveToken('http://127.0.0.1:4000/files/F1', api)).toBe(true);
  expect(mayReceiveToken('http://127.0.0.1:4001/files/F1', api)).toBe(false);
  expect(mayReceiveToken('http://localhost:4000/files/F1', api)).toBe(false);
});

test('no other origin gets the token if the API is Slack’s', () => {
  expect(mayReceiveToken('https://api.example/files/F1', 'https://slack.com/api/')).toBe(false);
});

const from = 'https://files.slack.com/files-pri/T1-F1/x.csv';
const placeBy = (location: string) => otherPlace({ statusCode: 302, headers: { location } }, from);

test.each([
  [
    'https://files-origin.slack.com/files-pri/T1-F1/x.csv',
    'https://files-origin.slack.com/files-pri/T1-F1/x.csv',
  ],
  ['../T1-F2/y.csv?pub=1', 'https://files.slack.com/files-pri/T1-F2/y.csv?pub=1'],
  ['https://a.slack-edge.com/x?sig=1', 'https://a.slack-edge.com/x?sig=1'],
])('a file that Slack keeps at %s is asked for there', (location, place) => {
  expect(placeBy(location)).toBe(place);
  expect(otherPlace({ statusCode: 200, headers: { location } }, from)).toBeUndefined();
});

test.each([
  'https://acme.slack.com/?redir=%2Ffiles-pri%2FT1-F1%2Fx.csv',
  'http://files-origin.slack.com/x',
  'http://a.slack-edge.com/x',
  'https://a.slack-edge.com:8443/x',
  'https://user@a.slack-edge.com/x',
  'https://evilslack-edge.com/x',
  'https://slack-edge.com.evil.example/x',
  'https://sign-in.example/',
  'http://[',
])('a file is not asked for at %s', (location) => {
  expect(placeBy(location)).toBeUndefined();
});

test('an address that needs no token gets none', () => {
  expect(mayReceiveToken('https://a.slack-edge.com/x')).toBe(false);
});
