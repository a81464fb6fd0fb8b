import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { AppRegistration } from './app-registration.ts';
import { type Fields, isFields, type Team } from './model.ts';
import type { RateLimits } from './rate-limits.ts';
import { SlackRefusal } from './slack-refusal.ts';
import type { Method } from './web-api-method.ts';
import type { World } from './world.ts';

const SECRET_ARGUMENTS = new Set(['token', 'client_secret', 'refresh_token', 'file']);

/** A Web API call as the server recorded it. */
export interface RecordedCall {
  method: string;
  /** The workspace of the token; empty if the token is unknown. */
  teamId: string;
  /** The arguments without secrets; texts are cut to 300 characters. */
  args: Fields;
  ok: boolean;
  error?: string;
  /** HTTP status; 0 if the response did not reach the app. */
  status: number;
  /** When it arrived, Unix time in ms. */
  at: number;
  /** How long it took, in ms. */
  ms: number;
}

interface WebApiDeps {
  world: World;
  limits: RateLimits;
  scopes: Set<string>;
  methods: Record<string, Method>;
  appToken: string;
  app: AppRegistration;
}

/** Handles Web API calls: checks token, rate limits and scopes, then runs the method. */
export class WebApi {
  readonly #deps: WebApiDeps;
  readonly calls: RecordedCall[] = [];
  readonly #listeners = new Set<(call: RecordedCall) => void>();

  constructor(deps: WebApiDeps) {
    this.#deps = deps;
  }

  onCall(listener: (call: RecordedCall) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records every call, including those that a fault intercepts. */
  recorder(): RequestHandler {
    return (request, response, next) => {
      const started = performance.now();
      const call: RecordedCall = {
        method: methodName(request),
        teamId: this.#teamOf(tokenOf(request), argsOf(request))?.id ?? '',
        args: summary(argsOf(request)),
        ok: false,
        status: 0,
        at: this.#deps.world.clock.now(),
        ms: 0,
      };
      this.calls.push(call);
      response.locals.call = call;
      response.on('close', () => {
        call.ms = performance.now() - started;
        call.status = response.writableFinished ? response.statusCode : 0;
        for (const listener of this.#listeners) listener(call);
      });
      next();
    };
  }

  /** Answers a call. */
  handler(): RequestHandler {
    return (request, response) => this.#answer(request, response);
  }

  async #answer(request: Request, response: Response): Promise<void> {
    const name = methodName(request);
    try {
      const answer = await this.#run(name, request);
      if (this.#deps.methods[name]?.token === 'bot')
        response.set('x-oauth-scopes', [...this.#deps.scopes].join(','));
      this.#reply(response, 200, { ok: true, ...answer });
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      const { retryAfter, ...extra } = error.extra;
      if (typeof retryAfter === 'number') response.set('retry-after', String(retryAfter));
      const status = typeof retryAfter === 'number' ? 429 : 200;
      this.#reply(response, status, { ok: false, error: error.code, ...extra });
    }
  }

  /** Sends the response; records the outcome before the app can see it. */
  #reply(response: Response, status: number, answer: Fields): void {
    const { error } = answer;
    Object.assign(response.locals.call, { ok: answer.ok, status, ...(error !== undefined && { error }) });
    response.status(status).json(answer);
  }

  async #run(name: string, request: Request): Promise<Fields> {
    const method = this.#deps.methods[name];
    if (method === undefined) throw new SlackRefusal('unknown_method', { req_method: name });
    const token = tokenOf(request);
    const args = argsOf(request);
    const team = method.token === 'bot' ? this.#installation(token, args) : this.#anyTeam(method, token);
    const place = args.channel ?? args.channel_id;
    const channel = typeof place === 'string' ? place : '';
    const seconds = this.#deps.limits.take(name, method.tier, team.id, channel);
    if (seconds > 0) throw new SlackRefusal('ratelimited', { retryAfter: seconds });
    const missing = method.scopes.filter((scope) => !this.#deps.scopes.has(scope));
    if (missing.length > 0) {
      throw new SlackRefusal('missing_scope', {
        needed: missing.join(','),
        provided: [...this.#deps.scopes].join(','),
      });
    }
    return method.run(args, team);
  }

  #installation(token: string, args: Fields): Team {
    if (token === '') throw new SlackRefusal('not_authed');
    if (token === this.#deps.appToken) throw new SlackRefusal('not_allowed_token_type');
    const team = this.#teamOf(token, args);
    if (team === undefined) throw new SlackRefusal('invalid_auth');
    const { state } = team.installation;
    if (state === 'revoked') throw new SlackRefusal('token_revoked');
    if (state === 'inactive') throw new SlackRefusal('account_inactive');
    if (team.installation.isExpired(token)) throw new SlackRefusal('token_expired');
    return team;
  }

  /** App-level calls and calls without a token belong to no workspace: their limits count for the first one. */
  #anyTeam(method: Method, token: string): Team {
    const refusal = method.token === 'configuration' ? this.#deps.app.tokenRefusal(token) : undefined;
    if (refusal !== undefined) throw new SlackRefusal(refusal);
    if (method.token === 'app' && token === '') throw new SlackRefusal('not_authed');
    if (method.token === 'app' && (token !== this.#deps.appToken || !this.#deps.app.exists)) {
      throw new SlackRefusal(this.#teamOf(token) === undefined ? 'invalid_auth' : 'not_allowed_token_type');
    }
    const [first] = this.#deps.world.teams.values();
    if (first === undefined) throw new SlackRefusal('team_not_found');
    return first;
  }

  /** The token's workspace; for an organisation's token, the one that is named or has the channel or person. */
  #teamOf(token: string, args: Fields = {}): Team | undefined {
    const teams = [...this.#deps.world.teams.values()].filter(({ installation }) =>
      installation.hasIssued(token),
    );
    if (teams.length < 2) return teams[0];
    const named = (...values: unknown[]) => values.find((value) => typeof value === 'string') ?? '';
    const place = named(args.channel, args.channel_id);
    const person = named(args.user, args.user_id);
    return (
      teams.find(({ id }) => id === args.team_id) ??
      teams.find(({ channels }) => channels.has(place)) ??
      teams.find(({ people }) => people.has(person)) ??
      teams[0]
    );
  }
}

/** The Slack method that a request calls. */
export function methodName(request: Request): string {
  const { method } = request.params;
  return typeof method === 'string' ? method : '';
}

function tokenOf(request: Request): string {
  const bearer = /^Bearer (.+)$/.exec(request.get('authorization') ?? '')?.[1];
  const { token } = argsOf(request);
  return bearer ?? (typeof token === 'string' ? token : '');
}

function argsOf(request: Request): Fields {
  const body: unknown = request.body;
  const query = Object.fromEntries(new URL(request.originalUrl, 'http://localhost').searchParams);
  return isFields(body) ? { ...query, ...body } : query;
}

function summary(args: Fields): Fields {
  const entries = Object.entries(args).filter(([name]) => !SECRET_ARGUMENTS.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > 300 ? `${value.slice(0, 300)}…` : value,
    ]),
  );
}

/** The last handler: an unreadable body, or a bug in the sandbox. */
export function handleError(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  if (response.headersSent) {
    next(error);
    return;
  }
  const tooLarge = isFields(error) && error.type === 'entity.too.large';
  if (tooLarge) response.status(413).json({ ok: false, error: 'request_too_large' });
  else if (isFields(error) && typeof error.status === 'number')
    response.json({ ok: false, error: 'invalid_form_data' });
  else next(error);
}
