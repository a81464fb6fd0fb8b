import type { Response } from 'express';
import type { CallSubject } from './misbehaviour.ts';
import type { TaskRecord } from './records.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import type { ServiceState } from './service-state.ts';
import type { Storage } from './storage.ts';
import type { TaskRunner } from './task-runner.ts';

export interface Skill {
  id: string;
  name: string;
}

export interface EndpointContext {
  state: ServiceState;
  storage: Storage;
  behaviour: ServiceBehaviour;
  skills: readonly Skill[];
  /** Returns the runner of a task. */
  runner: (task: TaskRecord) => TaskRunner;
  /** Ends the agent's work on a task and removes its runner. */
  dismiss: (task: TaskRecord) => void;
}

/** An authorised request. */
export interface EndpointRequest extends CallSubject {
  customer: string;
  response: Response;
}

/** A response with or without JSON, or a redirect; undefined if the handler has sent the response itself. */
export type EndpointResponse = { status: number; body?: object } | { redirect: string } | undefined;

/** An endpoint; its name is `METHOD path` as in the document. */
export interface Endpoint {
  name: string;
  handle(call: EndpointRequest): Promise<EndpointResponse> | EndpointResponse;
}
