import { createServer } from 'node:http';
import type { Request, Response } from 'express';
import express from 'express';
import { CallLog, type RecordedCall } from './agent/call-log.ts';
import { type Misbehaviour, misbehave } from './agent/misbehaviour.ts';
import { Faults } from './faults.ts';
import { closeServer, listenLocally } from './local-server.ts';
import { ARTICLES, WORKS } from './registry-works.ts';

/** A registry service: Crossref, doi.org and PubMed, as recorded in 2026, with content of its own. */
export type RegistryService = Awaited<ReturnType<typeof startRegistryService>>;

/** The fields that a list may be limited to. */
const SELECTABLE =
  'DOI title subtitle type issued published posted container-title update-to updated-by relation';
/** Calls a second: public, and with a contact. A little more is let through, because calls are late by turns. */
const RATES = { list: [1, 3], single: [5, 10], pubmed: [3, 3], agency: [50, 50] } as const;
const WINDOW_MS = 800;
/** What each answer of Crossref begins with. */
const ENVELOPE = { status: 'ok', 'message-version': '1.0.0' };

/** Starts it on a free port of 127.0.0.1. Its calls are `GET /works`, `GET /works/{doi}`, `GET /doiRA` and `GET esummary`. */
export async function startRegistryService() {
  const faults = new Faults();
  const works = new Map(WORKS);
  const articles = new Map(ARTICLES);
  /** By DOI: who registered it, beside Crossref's. */
  const agencies = new Map<string, string>();
  const calls: { call: string; url: string; userAgent: string }[] = [];
  /** What it answers wrongly, if anything. */
  const behaviour: { misbehaviour?: ((call: string, body: object) => Misbehaviour | undefined) | undefined } =
    {};
  const recent: { kind: string; at: number }[] = [];
  const log = new CallLog();
  const app = express().disable('x-powered-by').disable('etag');
  app.use((request, _response, next) => {
    calls.push({ call: callOf(request), url: request.url, userAgent: request.get('user-agent') ?? '' });
    next();
  });
  app.use(log.middleware(callOf), faults.middleware(callOf));

  /** Whether one more call is within the limit; Crossref says in each answer what holds. */
  const isAllowed = (request: Request, response: Response, kind: keyof typeof RATES): boolean => {
    const isPolite = request.query.mailto !== undefined || request.query.email !== undefined;
    const limit = RATES[kind][isPolite ? 1 : 0];
    const now = performance.now();
    if (kind === 'list' || kind === 'single')
      response.set({
        'x-api-pool': `${isPolite ? 'polite' : 'public'}-${kind === 'list' ? 'array' : 'single'}`,
        'x-rate-limit-limit': String(limit),
        'x-rate-limit-interval': '1s',
        'x-concurrency-limit': isPolite ? '3' : '1',
      });
    const before = recent.filter((one) => one.kind === kind && one.at > now - WINDOW_MS);
    recent.push({ kind, at: now });
    if (before.length < limit) return true;
    response.status(429);
    if (kind === 'pubmed')
      response.json({ error: 'API rate limit exceeded', 'api-key': '192.0.2.1', count: '4', limit: '3' });
    else response.end();
    return false;
  };
  const answer = (request: Request, response: Response, body: object): void => {
    const wrong = behaviour.misbehaviour?.(callOf(request), body);
    if (wrong === undefined) response.json(body);
    else void misbehave(wrong, response, body);
  };
  const workOf = (doi: string) => {
    const known = works.get(doi.toLowerCase());
    return known && { DOI: doi.toLowerCase(), type: 'journal-article', relation: {}, ...known };
  };

  app.get('/works', (request, response) => {
    if (!isAllowed(request, response, 'list')) return;
    const dois = textOf(request.query.filter)
      .split(',')
      .map((clause) => /^doi:(10\.\d{4,9}\/.+)$/.exec(clause)?.[1]);
    const fields = textOf(request.query.select).split(',');
    const rows = Number(request.query.rows ?? 20);
    if (dois.includes(undefined)) return refuse(response, 'filter-not-available');
    if (!fields.every((field) => SELECTABLE.split(' ').includes(field)))
      return refuse(response, 'parameter-not-allowed');
    if (!(rows >= 0 && rows <= 1_000)) return refuse(response, 'integer-not-valid');
    const found = dois.flatMap((doi) => workOf(doi ?? '') ?? []);
    const items = found
      .slice(0, rows)
      .map((work) => Object.fromEntries(Object.entries(work).filter(([name]) => fields.includes(name))));
    const message = { facets: {}, 'total-results': found.length, items, 'items-per-page': rows, query: {} };
    answer(request, response, { ...ENVELOPE, 'message-type': 'work-list', message });
  });
  app.get('/works/*doi', (request, response) => {
    if (!isAllowed(request, response, 'single')) return;
    if (request.query.select !== undefined) return refuse(response, 'parameter-not-allowed');
    const message = workOf([request.params.doi].flat().join('/'));
    if (message === undefined)
      return void response.status(404).type('text/plain').send('Resource not found.');
    answer(request, response, { ...ENVELOPE, 'message-type': 'work', message });
  });
  app.get('/doiRA/*dois', (request, response) => {
    if (!isAllowed(request, response, 'agency')) return;
    const dois = [request.params.dois].flat().join('/').split(',');
    const answers = dois.map((doi) => {
      const agency = agencies.get(doi.toLowerCase()) ?? (workOf(doi) && 'Crossref');
      const status = doi.startsWith('10.') ? 'DOI does not exist' : 'Invalid DOI';
      return agency === undefined ? { DOI: doi, status } : { DOI: doi, RA: agency };
    });
    answer(request, response, answers);
  });
  app.get('/esummary.fcgi', (request, response) => {
    if (!isAllowed(request, response, 'pubmed')) return;
    const header = { type: 'esummary', version: '0.3' };
    const uids = textOf(request.query.id).split(',').filter(Boolean);
    if (uids.length === 0)
      return void response.json({ header, esummaryresult: ['Empty id list - nothing todo'] });
    const entries = uids.map((uid) => [
      uid,
      { uid, ...(articles.get(uid) ?? { error: 'cannot get document summary' }) },
    ]);
    answer(request, response, { header, result: { uids, ...Object.fromEntries(entries) } });
  });

  const server = createServer(app);
  const url = `http://127.0.0.1:${await listenLocally(server)}`;
  const addresses = { crossref: url, doi: url, pubmed: url };
  /** As if it had not been called for a while. */
  const forgetCalls = () => {
    calls.length = 0;
    recent.length = 0;
  };
  return {
    addresses,
    faults,
    behaviour,
    works,
    articles,
    agencies,
    calls,
    /** Hears of each call once it is answered. */
    onCall: (listener: (call: RecordedCall) => void) => log.onCall(listener),
    forgetCalls,
    stop: () => closeServer(server),
  };
}

function callOf({ path }: Request): string {
  if (path.startsWith('/works/')) return 'GET /works/{doi}';
  return path.startsWith('/doiRA/') ? 'GET /doiRA' : path === '/works' ? 'GET /works' : 'GET esummary';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function refuse(response: Response, type: string): void {
  const message = [{ type, value: '…', message: 'This route does not support it' }];
  response.status(400).json({ status: 'failed', 'message-type': 'validation-failure', message });
}
