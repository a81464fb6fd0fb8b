import { z } from 'zod';
import { isFields } from '../model.ts';
import type { StepExecutions } from '../step-executions.ts';
import { json, type Method, method, text } from '../web-api-method.ts';

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
