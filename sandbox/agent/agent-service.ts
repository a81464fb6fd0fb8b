import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { Faults } from '../faults.ts';
import type { NetworkProxy } from '../network-proxy.ts';
import { listenBehind, type Reach } from '../reach.ts';
import type { AgentScript } from './agent-script.ts';
import { type AnalystHabits, analyst } from './analyst.ts';
import { CallLog, type RecordedCall } from './call-log.ts';
import { openDiskStorage } from './disk-storage.ts';
import type { EndpointContext, Skill } from './endpoint.ts';
import { fileEndpoints } from './file-endpoints.ts';
import { createHttpApp } from './http-app.ts';
import { messageEndpoints } from './message-endpoints.ts';
import type { FileRecord, ProjectRecord, TaskRecord } from './records.ts';
import { openS3Storage } from './s3-storage.ts';
import { behaviourSchema, type ServiceBehaviour } from './service-behaviour.ts';
import { ServiceState, type StatusChange } from './service-state.ts';
import type { S3Location } from './storage.ts';
import { projectEndpoints, taskEndpoints } from './task-endpoints.ts';
import { TaskRunner } from './task-runner.ts';

export interface AgentServiceOptions {
  /** A free port by default. */
  port?: number;
  reach?: Reach;
  /** The signed links lead through this proxy. */
  storageProxy?: NetworkProxy | undefined;
  /** Customer by API key; one demo key by default. */
  apiKeys?: Record<string, string>;
  /** The behaviour where the document leaves it open. */
  behaviour?: Partial<ServiceBehaviour>;
  /** The agent's program; the analyst by default. */
  script?: AgentScript;
  faults?: Faults;
  /** Where file contents are stored; a temporary folder by default. */
  storage?: { s3: S3Location };
  /** Factor on every wait of the agent; 1 by default. */
  pace?: number;
  /** Further factor on the pauses between words; 1 by default, which is faster than people read. */
  writingPace?: number;
  /** Skills that a message may request. */
  skills?: Skill[];
  /** Unix time in ms; tests advance it to let links expire (disk storage only). */
  now?: () => number;
}

/** A file as tests inspect it. */
export interface StoredFile extends FileRecord {
  open(): Promise<Readable>;
  /** Hex digest of the stored bytes. */
  sha256(): Promise<string>;
}

export type AgentService = Awaited<ReturnType<typeof startAgentService>>;

/** Starts the service on 127.0.0.1. */
export async function startAgentService(options: AgentServiceOptions = {}) {
  const apiKeys = options.apiKeys ?? { [randomBytes(24).toString('base64url')]: 'demo' };
  const behaviour = behaviourSchema.parse(options.behaviour ?? {});
  const faults = options.faults ?? new Faults();
  const now = options.now ?? Date.now;
  const log = new CallLog();
  const state = new ServiceState(now, behaviour);
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 30_000 });
  const reachable = await listenBehind(server, { port: options.port, ...options.reach });
  const { origin } = reachable;
  const port = Number(new URL(origin).port);
  const linkOrigin = options.storageProxy === undefined ? origin : reachable.through(options.storageProxy);
  const storage =
    options.storage === undefined
      ? await openDiskStorage({ behaviour, now, origin: linkOrigin })
      : openS3Storage(options.storage.s3);
  const runners = new Map<string, TaskRunner>();
  const { pace = 1, writingPace = 1 } = options;
  const turnContext = { state, storage, behaviour, pace, writingPace };
  const habits: AnalystHabits = { writesPapers: false };
  const script = options.script ?? analyst(habits);
  const context: EndpointContext = {
    state,
    storage,
    behaviour,
    skills: options.skills ?? [{ id: 'skl_summary', name: 'summary' }],
    runner: (task) => {
      const runner = runners.get(task.id) ?? new TaskRunner(turnContext, script, task);
      runners.set(task.id, runner);
      return runner;
    },
    dismiss: (task) => {
      runners.get(task.id)?.abandon();
      runners.delete(task.id);
    },
  };
  const endpoints = [
    ...projectEndpoints(context),
    ...taskEndpoints(context),
    ...messageEndpoints(context),
    ...fileEndpoints(context),
  ];
  server.on(
    'request',
    createHttpApp({ endpoints, storage, behaviour, faults, log, apiKeys, origins: [origin, linkOrigin] }),
  );

  const calls: readonly RecordedCall[] = log.calls;
  return {
    /** The base URL, including `/v1`. */
    url: `${origin}/v1`,
    port,
    /** The first of the API keys. */
    apiKey: Object.keys(apiKeys)[0] ?? '',
    faults,
    /** May be changed while the service runs. */
    behaviour,
    /** Of the default agent; may be changed, too. */
    habits,
    calls,
    get projects(): readonly Readonly<ProjectRecord>[] {
      return [...state.projects.values()];
    },
    /** With their messages, reviews and results. */
    get tasks(): readonly Readonly<TaskRecord>[] {
      return [...state.tasks.values()];
    },
    get files(): readonly StoredFile[] {
      return [...state.files.values()].map((file) => {
        const open = (): Promise<Readable> => storage.read(file.key);
        return { ...file, open, sha256: async () => digest(await open()) };
      });
    },
    /** Ends what takes the agent long in a task, such as `/slow 9000`; false if it does not work there. */
    hurry: (taskId: string): boolean => runners.get(taskId)?.hurry() ?? false,
    onCall: (listener: (call: RecordedCall) => void) => log.onCall(listener),
    onStatus: (listener: (change: StatusChange) => void) => state.onStatus(listener),
    /** Ends the agent's work, cuts all connections and removes the stored files. */
    stop: async () => {
      for (const runner of runners.values()) runner.abandon();
      await reachable.stop();
      await storage.stop();
    },
  };
}

async function digest(source: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source) hash.update(chunk);
  return hash.digest('hex');
}
