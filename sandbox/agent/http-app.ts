import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import express from 'express';
import type { Faults } from '../faults.ts';
import type { CallLog } from './call-log.ts';
import type { Endpoint } from './endpoint.ts';
import { misbehave } from './misbehaviour.ts';
import { oddHttp } from './odd-http.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import { refusalBody, ServiceRefusal } from './service-refusal.ts';
import type { Storage } from './storage.ts';

const PREFIX = '/v1';

export interface HttpAppDeps {
  endpoints: readonly Endpoint[];
  storage: Storage;
  behaviour: ServiceBehaviour;
  faults: Faults;
  log: CallLog;
  /** Customer by key. */
  apiKeys: Readonly<Record<string, string>>;
  /** How the service and its links are reached. */
  origins: readonly string[];
}

/** Creates the Express app for the endpoints and the signed links. */
export function createHttpApp(deps: HttpAppDeps): Express {
  const { endpoints, storage, behaviour, faults, log, apiKeys } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const nameOf = callNamer(endpoints);
  app.use(ownHost(deps.origins));
  app.use(log.middleware(nameOf));
  app.use(oddHttp(nameOf, (call) => behaviour.oddHttp?.(call)));
  // Before the faults, which may be about what a body says.
  app.use(PREFIX, express.json({ limit: '8mb', strict: false }));
  app.use(faults.middleware(nameOf));
  if (storage.router !== undefined) app.use(storage.router);
  app.use(PREFIX, authorize(behaviour, apiKeys), jsonOnly);
  for (const endpoint of endpoints) {
    const { method, path } = parseEndpointName(endpoint);
    app[method](`${PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, (request, response) => {
      return answer(endpoint, request, response, behaviour);
    });
  }
  app.use(() => {
    throw new ServiceRefusal(404, 'Not found');
  });
  app.use(errorHandler(behaviour));
  return app;
}

async function answer(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  behaviour: ServiceBehaviour,
): Promise<void> {
  const { query, body } = request;
  const params = Object.fromEntries(
    Object.entries(request.params).map(([name, value]) => [name, String(value)]),
  );
  const customer = String(response.locals.customer);
  const call = { customer, params, query, body, response };
  const refusal = behaviour.refusal?.(endpoint.name, call);
  if (refusal !== undefined) throw new ServiceRefusal(refusal, 'Not today');
  const result = await endpoint.handle(call);
  if (result === undefined) return;
  const right = 'redirect' in result ? undefined : result.body;
  const wrong = right && behaviour.misbehaviour?.(endpoint.name, right, call);
  if (wrong) return await misbehave(wrong, response, right);
  if ('redirect' in result) response.redirect(302, result.redirect);
  else if (result.body === undefined) response.status(result.status).end();
  else response.status(result.status).json(result.body);
}

/** Refuses requests to other names: a page from elsewhere may have its name lead to this machine (DNS rebinding). */
function ownHost(origins: readonly string[]): RequestHandler {
  const hosts = origins.flatMap((origin) => {
    const { host, port } = new URL(origin);
    return [host, `localhost:${port}`];
  });
  return (request, _response, next) => {
    if (!hosts.includes(request.headers.host ?? '')) throw new ServiceRefusal(421, 'Unknown host');
    next();
  };
}

/** Accepts known keys. */
function authorize(behaviour: ServiceBehaviour, apiKeys: Readonly<Record<string, string>>): RequestHandler {
  return (request, response, next) => {
    const [, key = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!Object.hasOwn(apiKeys, key)) throw new ServiceRefusal(behaviour.badKeyStatus, 'Invalid API key');
    response.locals.customer = apiKeys[key];
    next();
  };
}

/** Refuses a body that is not JSON, instead of ignoring it. */
const jsonOnly: RequestHandler = (request, _response, next) => {
  const empty = request.headers['content-length'] === '0';
  const sent = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'];
  if (sent && !empty && !request.is('application/json')) {
    throw new ServiceRefusal(415, 'The body must be application/json');
  }
  next();
};

/** Express recognises an error handler by its four parameters. */
function errorHandler(behaviour: ServiceBehaviour): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent || request.socket.destroyed) {
      request.socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    response.status(refusal.status).send(refusalBody(behaviour.errorBody, refusal));
  };
}

function refusalOf(error: unknown): ServiceRefusal {
  if (error instanceof ServiceRefusal) return error;
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  // Errors of Express and its JSON parser: an invalid path, invalid JSON, a body that is too large.
  if (status === 400) return new ServiceRefusal(422, 'Malformed request', ['body']);
  if (typeof status === 'number' && status < 500) return new ServiceRefusal(status, 'Malformed request');
  return new ServiceRefusal(500, error instanceof Error ? error.message : 'Internal error');
}

function parseEndpointName({ name }: Endpoint): { method: 'get' | 'post' | 'put' | 'delete'; path: string } {
  const [verb, path = ''] = name.split(' ');
  const methods = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;
  if (verb !== 'GET' && verb !== 'POST' && verb !== 'PUT' && verb !== 'DELETE') throw new Error(name);
  return { method: methods[verb], path };
}

/** Returns a function that names requests for faults and the call log. */
function callNamer(endpoints: readonly Endpoint[]): (request: Request) => string {
  const patterns = endpoints.map(({ name }) => {
    const source = name.replace(' ', ` ${PREFIX}`).replaceAll(/\{\w+\}/g, '[^/]+');
    return { name, pattern: new RegExp(`^${source}$`) };
  });
  return (request) => {
    const [path = ''] = request.originalUrl.split('?');
    if (path.startsWith('/storage/')) {
      if (request.method === 'GET') return 'GET download';
      return path.startsWith('/storage/part/') ? 'PUT part' : 'PUT upload';
    }
    const line = `${request.method} ${path}`;
    return patterns.find(({ pattern }) => pattern.test(line))?.name ?? line;
  };
}
