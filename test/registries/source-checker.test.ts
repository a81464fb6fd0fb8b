import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { caseNamed, driftCases, type RecordedResponse } from '../../sandbox/fuzz/drift-cases.ts';
import { startRegistryService } from '../../sandbox/registry-service.ts';
import { date, summary } from '../../sandbox/registry-works.ts';
import type { RegistryName, SourceId } from '../../src/registries/source-check.ts';
import { sourceChecker } from '../../src/registries/source-checker.ts';
import { withinMs } from '../support/busy-machine.ts';
import { InMemoryRateLimits } from '../support/in-memory-rate-limits.ts';
import { silentLog } from '../support/silent-log.ts';

const service = await startRegistryService();
afterAll(() => service.stop());
afterEach(() => {
  service.faults.clear();
  service.forgetCalls();
});

const GOOD = '10.1038/171737a0';
const BAD = '10.1016/s0140-6736(97)11096-0';
const MOVED = '10.1234/moved';
const DATASET = '10.5281/zenodo.1436372';
const retraction = { type: 'retraction', DOI: '10.1016/s0140-6736(10)60175-4', updated: date(2010, 2, 6) };
service.works.set(GOOD, { title: ['The structure of an acid'], issued: date(1953, 4, 25) });
service.works.set(BAD, {
  ...{ title: ['A bowel'], issued: date(1998, 2) },
  'updated-by': [{ ...retraction, source: 'retraction-watch', 'record-id': '4036', label: 'Retraction' }],
});
service.works.set('10.1234/a,b', { title: ['With a comma'], issued: date(2001) });
service.agencies.set(DATASET, 'DataCite');
service.agencies.set(MOVED, 'Crossref');
service.articles.set('9500320', summary('A bowel.', '1998 Feb 28', { pubtype: ['Retracted Publication'] }));

interface Asking {
  registries?: RegistryName[];
  mailto?: string;
  withinMs?: number;
  gate?: InMemoryRateLimits;
}

/** What the service says of ids, asked by a process that has not asked before. */
async function ask(ids: readonly SourceId[], asking: Asking = {}) {
  const {
    registries = ['crossref', 'pubmed'],
    mailto,
    withinMs = 10_000,
    gate = new InMemoryRateLimits(),
  } = asking;
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const checker = sourceChecker({ registries, mailto, gate, log, addresses: service.addresses });
  const checks = await checker.check(ids, AbortSignal.timeout(withinMs));
  return { checks, states: Object.fromEntries([...checks].map(([id, { state }]) => [id, state])), lines };
}

const ALL: SourceId[] = [
  `doi:${GOOD}`,
  `doi:${BAD}`,
  'doi:10.1234/no.such.work',
  `doi:${DATASET}`,
  'pmid:9500320',
  'pmid:334847',
];
const STATES: Partial<Record<SourceId, string>> = {
  [`doi:${GOOD}`]: 'found',
  [`doi:${BAD}`]: 'retracted',
  'doi:10.1234/no.such.work': 'not_found',
  [`doi:${DATASET}`]: 'found',
  'pmid:9500320': 'retracted',
  'pmid:334847': 'not_found',
};

describe('the registries', () => {
  test('are asked for all ids of an answer in one call each, and doi.org for what Crossref does not have', async () => {
    const { checks, states } = await ask(ALL);
    expect(states).toEqual(STATES);
    expect(checks.get(`doi:${GOOD}`)).toMatchObject({
      by: 'crossref',
      title: 'The structure of an acid',
      year: 1953,
    });
    expect(checks.get(`doi:${DATASET}`)).toMatchObject({ agency: 'DataCite' });
    expect(service.calls.map(({ call }) => call).sort()).toEqual([
      'GET /doiRA',
      'GET /works',
      'GET esummary',
    ]);
  });

  test('get nothing but ids, the names of fields, and the contact that the operator gives', async () => {
    await ask(ALL, { mailto: 'someone@example.org' });
    const sent = service.calls.flatMap(({ url }) => {
      const { pathname, searchParams } = new URL(url, 'http://x');
      return [...pathname.split(/[/,]/), ...[...searchParams.values()].flatMap((value) => value.split(','))];
    });
    const names = ['works', 'doiRA', 'esummary.fcgi', 'pubmed', 'json', 'taskthread', 'someone@example.org'];
    const fields = ['DOI', 'title', 'issued', 'updated-by', 'update-to', 'relation'];
    const ids = ALL.flatMap((id) => [id, id.replace(/^\w+:/, ''), ...id.replace(/^\w+:/, '').split('/')]);
    const rest = sent.filter(
      (one) => ![...names, ...fields, ...ids, '20', ''].includes(decodeURIComponent(one)),
    );
    expect(rest).toEqual([]);
    expect(service.calls.map(({ userAgent }) => userAgent)).toContain(
      'Taskthread (mailto:someone@example.org)',
    );
  });

  test('are not asked where the operator does not name them', async () => {
    expect((await ask(ALL, { registries: ['pubmed'] })).states).toEqual({
      ...{ 'pmid:9500320': 'retracted', 'pmid:334847': 'not_found' },
    });
    expect((await ask([], {})).states).toEqual({});
    expect(service.calls.map(({ call }) => call)).toEqual(['GET esummary']);
  });

  test('are asked for a DOI with a comma, and for those of a refused list, one by one', async () => {
    expect((await ask(['doi:10.1234/a,b'])).states).toEqual({ 'doi:10.1234/a,b': 'found' });
    service.faults.add({
      call: 'GET /works',
      fault: { kind: 'status', status: 400, body: { status: 'failed' } },
    });
    const dois = ALL.filter((id) => id.startsWith('doi:'));
    const expected = Object.fromEntries(dois.map((id) => [id, STATES[id]]));
    expect((await ask(dois, { mailto: 'someone@example.org' })).states).toEqual(expected);
  });

  test('are asked for the other DOIs where doi.org or Crossref refuses one', async () => {
    service.agencies.set('10.1234/refused', 'Crossref');
    service.faults.add({ call: 'GET /works/{doi}', times: 1, fault: { kind: 'status', status: 400 } });
    const two: SourceId[] = ['doi:10.1234/refused', `doi:${MOVED}`];
    expect((await ask(two)).states).toEqual({ 'doi:10.1234/refused': 'found', [`doi:${MOVED}`]: 'found' });
    service.faults.add({ call: 'GET /doiRA', fault: { kind: 'status', status: 400 } });
    service.works.set('10.1234/unlisted', { title: ['A work'], issued: date(2001) });
    service.faults.add({ call: 'GET /works', fault: { kind: 'status', status: 400 } });
    expect((await ask([`doi:${MOVED}`, 'doi:10.1234/unlisted'])).states).toEqual({
      'doi:10.1234/unlisted': 'found',
    });
  });

  test('have a DOI that only doi.org knows as one of Crossref', async () => {
    const { checks } = await ask([`doi:${MOVED}`]);
    expect(checks.get(`doi:${MOVED}`)).toMatchObject({ state: 'found', agency: 'Crossref' });
    expect(service.calls.map(({ call }) => call)).toContain('GET /works/{doi}');
  });

  test.each([
    ['429 without a body', { kind: 'status', status: 429 }],
    ['429 with a time', { kind: 'status', status: 429, headers: { 'retry-after': '7' } }],
    [
      'NCBI 429 in a 200',
      { kind: 'status', status: 200, body: { error: 'API rate limit exceeded', count: '11' } },
    ],
    ['403', { kind: 'status', status: 403 }],
    ['503', { kind: 'status', status: 503, body: '<html>' }],
    ['a redirect', { kind: 'status', status: 301, headers: { location: '/elsewhere' } }],
    ['400', { kind: 'status', status: 400, body: 'Bad request' }],
    ['half a body', { kind: 'status', status: 200, body: '{"status":"ok","message":{"it' }],
    ['a page of a gateway', { kind: 'status', status: 200, body: '<html>Sign in</html>' }],
    ['an empty object', { kind: 'status', status: 200, body: {} }],
    ['an empty list', { kind: 'status', status: 200, body: [] }],
    ['a cut connection', { kind: 'cut' }],
    ['a lost response', { kind: 'lost' }],
    ['silence', { kind: 'hold', until: new Promise<void>(() => undefined) }],
  ] as const)('leave unchecked what they answer with %s', async (_, fault) => {
    service.faults.add({ call: /./, fault });
    const { states, lines } = await ask(ALL, { withinMs: 1_000 });
    expect(states).toEqual({});
    expect(lines.join('')).not.toMatch(/10\.\d{4}|9500320|Sign in|API rate/);
  });

  test('leave unchecked what Crossref does not have while doi.org fails', async () => {
    service.faults.add({ call: 'GET /doiRA', fault: { kind: 'status', status: 503 } });
    const { 'doi:10.1234/no.such.work': missing, [`doi:${DATASET}`]: dataset, ...rest } = STATES;
    expect([missing, dataset]).toEqual(['not_found', 'found']);
    expect((await ask(ALL)).states).toEqual(rest);
  });

  test('that answer 404 with text that is called JSON are understood', async () => {
    const headers = { 'content-type': 'application/json;charset=utf-8' };
    const fault = { kind: 'status', status: 404, headers, body: 'Resource not found.' } as const;
    service.faults.add({ call: 'GET /works/{doi}', fault });
    service.faults.add({ call: 'GET /works', fault: { kind: 'status', status: 400, body: 'Bad request' } });
    const id = 'doi:10.1234/no.such.work';
    expect((await ask([id])).states).toEqual({ [id]: 'not_found' });
    // Whether doi.org splits a DOI at its comma is not known: nothing is said of it.
    expect((await ask(['doi:10.1234/c,d'])).states).toEqual({});
  });

  test.each([301, 308, 408, 421, 425])(
    'are asked once where they answer %i, which is no refusal of a DOI',
    async (status) => {
      const headers = { location: 'https://elsewhere.example/works' };
      service.faults.add({ call: /./, fault: { kind: 'status', status, headers } });
      expect((await ask(ALL.filter((id) => id.startsWith('doi:')))).states).toEqual({});
      expect(service.calls).toHaveLength(1);
    },
  );

  test('are followed from a DOI that is an alias to the work that has another', async () => {
    service.agencies.set('10.1234/alias', 'Crossref');
    const headers = { location: `/works/${encodeURIComponent(BAD)}` };
    const fault = { kind: 'status', status: 301, headers } as const;
    service.faults.add({ call: 'GET /works/{doi}', fault, times: 1 });
    expect((await ask(['doi:10.1234/alias', `doi:${MOVED}`])).states).toEqual({
      'doi:10.1234/alias': 'retracted',
      [`doi:${MOVED}`]: 'found',
    });
  });

  test('keep what one of them answers where the other fails', async () => {
    service.faults.add({ call: 'GET esummary', fault: { kind: 'cut' } });
    const { states } = await ask(ALL);
    expect(Object.keys(states)).toHaveLength(4);
  });

  test('are left alone for a while after a failure, and nobody waits for that', async () => {
    const gate = new InMemoryRateLimits();
    service.faults.add({ call: 'GET esummary', fault: { kind: 'status', status: 503 }, times: 1 });
    for (const _ of [1, 2]) {
      const began = performance.now();
      expect((await ask(['pmid:9500320'], { gate })).states).toEqual({});
      expect(performance.now() - began).toBeLessThan(withinMs(2_000));
    }
    expect(service.calls).toHaveLength(1);
  });

  test('are no worse for our own time, which may be over first', async () => {
    service.faults.add({ call: /^GET /, fault: { kind: 'hold', until: new Promise(() => undefined) } });
    const gate = new InMemoryRateLimits();
    expect((await ask(ALL, { gate, withinMs: 300 })).states).toEqual({});
    service.faults.clear();
    expect((await ask(ALL, { gate })).states).toEqual(STATES);
  });

  test('are asked for no DOI whose dots would lead elsewhere', async () => {
    const { states } = await ask([`doi:${GOOD}`, 'doi:10.1234/a/../../x', 'doi:10.1234/./x']);
    expect(states).toEqual({ [`doi:${GOOD}`]: 'found' });
    expect(service.calls.map(({ call }) => call)).toEqual(['GET /works']);
  });

  test('whose limit is reached get no further call, for as long as they say', async () => {
    const gate = new InMemoryRateLimits();
    const headers = { 'retry-after': '2' };
    service.faults.add({ call: 'GET /works', fault: { kind: 'status', status: 429, headers }, times: 1 });
    for (const _ of [1, 2]) expect((await ask([`doi:${GOOD}`], { gate, withinMs: 500 })).states).toEqual({});
    expect(service.calls).toHaveLength(1);
    const { states, lines } = await ask([`doi:${GOOD}`], { gate });
    expect([states, lines]).toEqual([{ [`doi:${GOOD}`]: 'found' }, []]);
  });

  test.each([
    [429, '0'],
    [403, '0'],
    [429, 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ])('that answer %i with the pause "%s" are left alone for a while', async (status, pause) => {
    const gate = new InMemoryRateLimits();
    const headers = { 'retry-after': pause };
    service.faults.add({ call: 'GET /works', fault: { kind: 'status', status, headers }, times: 1 });
    for (const _ of [1, 2]) expect((await ask([`doi:${GOOD}`], { gate, withinMs: 500 })).states).toEqual({});
    expect(service.calls).toHaveLength(1);
  });

  test('that are in trouble are left alone for as long as they say', async () => {
    const gate = new InMemoryRateLimits();
    const headers = { 'retry-after': '90' };
    service.faults.add({ call: 'GET /works', fault: { kind: 'status', status: 503, headers }, times: 1 });
    expect((await ask([`doi:${GOOD}`], { gate })).states).toEqual({});
    expect(await gate.take('', 'crossref list', { perMinute: 60, burst: 1 })).toBeGreaterThan(60_000);
  });

  test('are asked at the rate of their tables, and then at one that Crossref names, unless that is none', async () => {
    const gate = new InMemoryRateLimits();
    const options = {
      registries: ['crossref', 'pubmed'] as const,
      gate,
      log: silentLog,
      addresses: service.addresses,
    };
    const checker = sourceChecker({ ...options, mailto: undefined });
    const body = { message: { items: [] } };
    for (const limit of ['30', '0.000001']) {
      const headers = { 'x-rate-limit-limit': limit, 'x-rate-limit-interval': '2s' };
      service.faults.add({
        call: 'GET /works',
        fault: { kind: 'status', status: 200, headers, body },
        times: 1,
      });
    }
    const signal = AbortSignal.timeout(10_000);
    for (const _ of [1, 2, 3]) await checker.check([`doi:${GOOD}`, 'pmid:9500320'], signal);
    const rates = (name: string) => [
      ...new Set(
        gate.rules.flatMap(({ limitKey, perMinute }) => (limitKey === name ? [perMinute / 60] : [])),
      ),
    ];
    expect(rates('crossref list')).toEqual([1, 15]);
    expect(rates('pubmed')).toEqual([3]);
  });
});

describe('a field of an answer that is missing or odd', () => {
  test('never makes a retracted article clean, nor one that exists not found', async () => {
    const ids: SourceId[] = [`doi:${GOOD}`, `doi:${BAD}`, 'pmid:9500320'];
    const recorded: RecordedResponse[] = [];
    for (const [call, path] of [
      [
        'GET /works',
        `/works?filter=doi:${GOOD},doi:${BAD}&select=DOI,title,issued,updated-by,update-to,relation`,
      ],
      ['GET esummary', '/esummary.fcgi?id=9500320'],
    ] as const)
      recorded.push({
        call,
        body: Object(await (await fetch(`${service.addresses.crossref}${path}`)).json()),
      });
    const harm: string[] = [];
    const cases = driftCases(recorded).filter(({ drift }) => drift.kind === 'field');
    expect(cases.length).toBeGreaterThan(100);
    for (const { name } of cases) {
      const { call, drift } = caseNamed(name);
      const body = recorded.find((one) => one.call === call)?.body;
      if (drift.kind !== 'field') continue;
      service.faults.add({
        call,
        fault: { kind: 'status', status: 200, body: drift.change(structuredClone(body)) },
      });
      // Where doi.org does not answer, nothing is taken for missing.
      const { states } = await ask(ids, { mailto: 'someone@example.org' });
      service.faults.clear();
      for (const [id, state] of Object.entries(states))
        if (state === 'not_found' || (id !== `doi:${GOOD}` && state === 'found'))
          harm.push(`${name}: ${id} ${state}`);
    }
    // What these fields say is gone with them.
    const telling = /updated-by|pubtype/;
    expect(harm.filter((one) => !telling.test(one))).toEqual([]);
  });
});
