import { z } from 'zod';
import type { AppRegistration } from './app-registration.ts';
import type { StepParameter } from './manifest-schema.ts';
import { type Fields, isFields, type Team } from './model.ts';
import { explainedRefusal, SlackRefusal } from './slack-refusal.ts';
import { json, type Method, method, text, type WorkspaceDeps } from './web-api-method.ts';

/** One run of a step of a workflow. */
export interface StepExecution {
  id: string;
  teamId: string;
  callbackId: string;
  inputs: Fields;
  /** `closed`: somebody cancelled the workflow. */
  state: 'running' | 'succeeded' | 'failed' | 'closed';
  outputs?: Fields;
  error?: string;
  /** When it began and ended, Unix time in ms. */
  begunAt: number;
  endedAt?: number;
  /** Completions that were refused because the run was over. */
  repeatedCompletions: number;
}

/** Workflows that run the app's steps: the workflow itself is left out. */
export class StepExecutions {
  readonly all: StepExecution[] = [];
  readonly #deps: WorkspaceDeps;
  readonly #app: AppRegistration;

  constructor(deps: WorkspaceDeps, app: AppRegistration) {
    this.#deps = deps;
    this.#app = app;
  }

  /** A workflow runs a step with these inputs. @throws if the manifest has no such step, or does not take the inputs */
  run(team: Team, callbackId: string, inputs: Fields): StepExecution {
    const step = this.#app.manifest?.functions?.[callbackId];
    if (step === undefined) throw new Error(`The app's manifest has no step ${callbackId}.`);
    const problems = parameterProblems(step.input_parameters, inputs);
    if (problems.length > 0) throw new Error(`Workflow Builder does not accept this: ${problems.join('; ')}`);
    const { ids, clock } = this.#deps.world;
    const id = ids.next('Fx');
    const execution: StepExecution = {
      id,
      teamId: team.id,
      callbackId,
      inputs,
      state: 'running',
      begunAt: clock.now(),
      repeatedCompletions: 0,
    };
    this.all.push(execution);
    const { title, description, input_parameters, output_parameters } = step;
    this.#deps.events.emit(team, {
      type: 'function_executed',
      function: {
        id: ids.next('Fn'),
        callback_id: callbackId,
        title,
        description,
        type: 'app',
        input_parameters: Object.values(input_parameters),
        output_parameters: Object.values(output_parameters),
        app_id: team.bot.appId,
      },
      inputs,
      function_execution_id: id,
      workflow_execution_id: ids.next('Wx'),
      event_ts: ids.ts(),
      // Slack's token of the step ends after 15 minutes: here it is never valid.
      bot_access_token: `xwfp-${ids.letters(24)}`,
    });
    return execution;
  }

  /** Somebody cancels the workflow: the step can no longer be completed. */
  close(id: string): void {
    this.#running(this.all.find((one) => one.id === id)).state = 'closed';
  }

  /** @throws SlackRefusal if the run is over, or the outputs are not those of the manifest */
  succeed(team: Team, id: string, outputs: Fields): void {
    const execution = this.#running(this.#ofTeam(team, id));
    const step = this.#app.manifest?.functions?.[execution.callbackId];
    const problems = parameterProblems(step?.output_parameters ?? {}, outputs);
    if (problems.length > 0) throw explainedRefusal('parameter_validation_failed', problems);
    this.#end(execution, { state: 'succeeded', outputs });
  }

  /** @throws SlackRefusal if the run is over */
  fail(team: Team, id: string, error: string): void {
    this.#end(this.#running(this.#ofTeam(team, id)), { state: 'failed', error });
  }

  #end(execution: StepExecution, end: Partial<StepExecution>): void {
    Object.assign(execution, { ...end, endedAt: this.#deps.world.clock.now() });
  }

  #ofTeam(team: Team, id: string): StepExecution | undefined {
    return this.all.find((one) => one.id === id && one.teamId === team.id);
  }

  #running(execution: StepExecution | undefined): StepExecution {
    if (execution === undefined) throw new SlackRefusal('function_execution_not_found');
    if (execution.state === 'running') return execution;
    execution.repeatedCompletions += 1;
    throw new SlackRefusal('execution_not_in_running_state');
  }
}

/** What does not fit the parameters of a step: unknown names, missing values, wrong types. */
function parameterProblems(parameters: Readonly<Record<string, StepParameter>>, values: Fields): string[] {
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(parameters, name));
  const wrong = Object.entries(parameters).filter(([name, { type, is_required }]) => {
    const value = values[name];
    if (value === undefined) return is_required;
    if (type === 'boolean') return typeof value !== 'boolean';
    if (type === 'integer' || type === 'number') return typeof value !== 'number';
    return typeof value !== 'string' || (is_required && value === '');
  });
  return [...unknown.map((name) => `${name} is unknown`), ...wrong.map(([name]) => `${name} is not valid`)];
}

/** The methods that complete steps of workflows. They need no scope. */
export function functionMethods(executions: StepExecutions): Record<string, Method> {
  return {
    'functions.completeSuccess': method(
      { tier: 'tier3' },
      z.looseObject({ function_execution_id: text, outputs: json.refine(isFields) }),
      ({ function_execution_id: id, outputs }, team) => {
        executions.succeed(team, id, isFields(outputs) ? outputs : {});
        return {};
      },
    ),

    'functions.completeError': method(
      { tier: 'tier3' },
      z.looseObject({ function_execution_id: text, error: z.string().min(1) }),
      ({ function_execution_id: id, error }, team) => {
        executions.fail(team, id, error);
        return {};
      },
    ),
  };
}
