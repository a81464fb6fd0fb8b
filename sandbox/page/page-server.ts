import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import type { AgentService } from '../agent/agent-service.ts';
import type { BotSupervisor } from '../bot-supervisor.ts';
import { closeServer, listenLocally } from '../local-server.ts';
import type { RegistryService } from '../registry-service.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import { ActionExecutor, sampleFile } from './action-executor.ts';
import { asset } from './assets.ts';
import { BrowserUploads } from './browser-uploads.ts';
import { EventStream } from './event-stream.ts';
import { FaultSwitches } from './fault-switches.ts';
import { type ManifestCommands, readManifestCommands } from './manifest-commands.ts';
import { userActionSchema } from './user-action.ts';

export interface PageServerOptions {
  slack: SlackWorkspace;
  agent: AgentService;
  registry: RegistryService | undefined;
  /** The bot that people can kill and start on the page. */
  bot?: BotSupervisor | undefined;
  /** TCP ports on 127.0.0.1; the first free one is used. 0 means any. */
  ports: number[];
  /** Commands and shortcuts; those of manifest.yml by default. */
  manifestCommands?: ManifestCommands | undefined;
}

const switchShape = z.object({ id: z.string(), on: z.boolean() });
const botShape = z.object({ do: z.enum(['crash', 'start']) });

/** Serves the workspace as a page on 127.0.0.1. */
export async function startPageServer(options: PageServerOptions) {
  const { slack, agent, registry, bot } = options;
  const uploads = new BrowserUploads();
  const executor = new ActionExecutor(slack, uploads);
  const switches = new FaultSwitches(slack, agent, registry);
  const eventStream = new EventStream({
    slack,
    agent,
    registry,
    bot,
    switches,
    manifestCommands: options.manifestCommands ?? readManifestCommands(),
  });
  const app = express();
  app.disable('x-powered-by');
  app.use(localOnly, securityHeaders(new URL(agent.url).origin));
  app.get('/live', (request, response) => {
    const { as } = request.query;
    const me = [...slack.team.people.values()].find(({ id, kind }) => id === as && kind !== 'bot');
    eventStream.open((me ?? firstPerson(slack)).id, response);
  });
  app.post('/action', express.json({ limit: '1mb' }), async (request, response) => {
    const action = userActionSchema.safeParse(request.body);
    if (action.success) response.json(await executor.execute(action.data));
    else response.status(400).json({ ok: false, error: z.prettifyError(action.error) });
  });
  app.post('/uploads', async (request, response) => {
    const name = typeof request.query.name === 'string' ? request.query.name : 'untitled';
    const key = await uploads.receive(name, request.get('content-type') ?? '', request);
    response.json({ key });
  });
  app.post('/switch', express.json(), (request, response) => {
    const { id, on } = switchShape.parse(request.body);
    switches.set(id, on);
    eventStream.sendSwitches();
    response.json({ ok: true });
  });
  app.post('/bot', express.json(), async (request, response) => {
    const what = botShape.parse(request.body).do;
    try {
      await (what === 'crash' ? bot?.crash() : bot?.start());
      response.json({ ok: true });
    } catch (error) {
      response.json({ ok: false, error: error instanceof Error ? error.message : String(error) });
    }
  });
  app.get('/sample', (_request, response) => {
    const { name, bytes } = sampleFile();
    response.attachment(name).type('text/csv').send(bytes);
  });
  app.get('/files/:id', (request, response) => sendFile(slack, request, response));
  app.get('/{*path}', async (request, response, next) => {
    const found = await asset(request.path === '/' ? 'index.html' : request.path.slice(1));
    if (found === undefined) next();
    else response.set('content-type', found.kind).send(found.body);
  });

  const server = createServer(app);
  const port = await listenOn(server, options.ports);
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: async () => {
      eventStream.stop();
      await closeServer(server);
      await uploads.stop();
    },
  };
}

async function listenOn(server: Server, [port = 0, ...others]: number[]): Promise<number> {
  try {
    return await listenLocally(server, port);
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!taken || others.length === 0) throw error;
    return listenOn(server, others);
  }
}

/** Refuses other sites, whether they use their own name for 127.0.0.1 or a form. */
function localOnly(request: Request, response: Response, next: NextFunction): void {
  const isLocal = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.get('host') ?? '');
  const isOurs = request.method === 'GET' || request.get('x-sandbox') === 'page';
  if (isLocal && isOurs) next();
  else response.status(403).send('This page is available on this machine only.');
}

/** Security headers that block content from other machines; `origin` is the agent service, which serves pictures. */
function securityHeaders(origin: string) {
  const policy = [
    `default-src 'self'`,
    `img-src 'self' blob: data: ${origin}`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
  return (_request: Request, response: Response, next: NextFunction): void => {
    response.set({
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    next();
  };
}

function firstPerson(slack: SlackWorkspace) {
  const first = [...slack.team.people.values()].find(({ kind }) => kind !== 'bot');
  if (first === undefined)
    throw new Error('The workspace has no people: create a person before opening the page.');
  return first;
}

/** Sends a shared file; `?start=4000` sends only the first 4000 bytes, for a preview. */
async function sendFile(slack: SlackWorkspace, request: Request, response: Response): Promise<void> {
  const id = String(request.params.id);
  if (!slack.hasFile(id)) {
    response.status(404).send('There is no such file.');
    return;
  }
  const { content, mime, name } = slack.file(id);
  const wanted = Number(request.query.start ?? content.size);
  const end = Number.isInteger(wanted) ? Math.max(0, Math.min(content.size, wanted)) : 0;
  response.set({
    'content-type': /^(?:image\/|text\/plain$|text\/csv$|application\/pdf$)/.test(mime)
      ? mime
      : 'application/octet-stream',
    'content-length': String(end),
    'content-security-policy': `sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:`,
  });
  if (request.query.download !== undefined) response.attachment(name ?? 'file');
  await pipeline(Readable.from(content.read(0, end), { objectMode: false }), response);
}
