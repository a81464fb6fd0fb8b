import type { RequestHandler } from 'express';
import express from 'express';
import type { Faults } from '../faults.ts';
import type { OAuth } from './oauth.ts';
import { handleError, methodName, type WebApi } from './web-api.ts';
import type { WorkspaceDeps } from './web-api-method.ts';

/** Largest body of a Web API call (bytes). */
const BODY_LIMIT = 4 * 1024 * 1024;

/** The server's routes: the Web API, files, uploads, response_urls and OAuth. */
export function routes(deps: WorkspaceDeps, api: WebApi, oauth: OAuth, faults: Faults): express.Express {
  const app = express();
  const { files } = deps;
  const bodies = [
    express.urlencoded({ extended: false, limit: BODY_LIMIT, parameterLimit: 1000 }),
    express.json({ limit: BODY_LIMIT }),
    express.raw({ type: 'multipart/form-data', limit: BODY_LIMIT }),
    multipartFields,
  ];
  app.all('/api/:method', bodies, api.recorder(), faults.middleware(methodName), api.handler());
  app.get(
    '/files-pri/:key/{*name}',
    faults.middleware(() => 'files.download'),
    (request, response) => files.send(String(request.params.key).split('-').at(-1) ?? '', request, response),
  );
  app.post(
    '/upload/v1/:key',
    faults.middleware(() => 'files.upload'),
    (request, response) => files.receive(String(request.params.key), request, response),
  );
  app.post(
    ['/actions/:team/:key', '/commands/:team/:key'],
    bodies,
    (request: express.Request, response: express.Response) => {
      const answer = deps.interactions.answer(String(request.params.key), request.body);
      response.status(answer.status).send(answer.body);
    },
  );
  app.get('/oauth/v2/authorize', (request, response) => oauth.authorize(request, response));
  app.use(handleError);
  return app;
}

/** Parses a multipart form whose body is already read: texts stay texts, files become their bytes. */
export const multipartFields: RequestHandler = (request, _response, next) => {
  const body: unknown = request.body;
  const contentType = request.get('content-type') ?? '';
  if (!Buffer.isBuffer(body) || !contentType.startsWith('multipart/form-data')) {
    next();
    return;
  }
  new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .then(async (form) => {
      const fields = [...form].map(async ([name, value]) => [
        name,
        typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer()),
      ]);
      request.body = Object.fromEntries(await Promise.all(fields));
    })
    .then(() => next(), next);
};
