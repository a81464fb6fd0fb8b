import type { Response } from 'express';
import type { TaskRecord } from './records.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import type { ServiceState } from './service-state.ts';
import type { Storage } from './storage.ts';
import type { TaskRunner } from './task-runner.ts';

export interface Skill {
  id: string;
  name: string;
}

/** What the endpoints work with. */
export interface EndpointContext {
  state: ServiceState;
  storage: Storage;
  behaviour: ServiceBehaviour;
  skills: readonly Skill[];
  /** The agent on this task. */
  runner: (task: TaskRecord) => TaskRunner;
  /** Ends the agent's work on the task and forgets it. */
  dismiss: (task: TaskRecord) => void;
}

/** One authorised request. */
export interface EndpointRequest {
  customer: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  response: Response;
}

/** An answer in JSON, without a body, or elsewhere; `undefined` where the handler has answered itself. */
export type EndpointResponse = { status: number; body?: object } | { redirect: string } | undefined;

/** One endpoint; its name is `METHOD path`, as the document writes it. */
export interface Endpoint {
  name: string;
  handle(call: EndpointRequest): Promise<EndpointResponse> | EndpointResponse;
}
