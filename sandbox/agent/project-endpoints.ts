import { z } from 'zod';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import { readBody } from './request-input.ts';
import { projectJson } from './response-json.ts';

const creation = z.object({
  title: z.string().min(1).max(500),
  description: z.string().max(10_000).optional(),
});
const change = z.object({
  title: z.string().max(500).optional(),
  description: z.string().max(10_000).optional(),
});

export function projectEndpoints({ state, behaviour }: EndpointContext): Endpoint[] {
  return [
    {
      name: 'POST /projects',
      handle: ({ customer, body }) => {
        const { title, description } = readBody(creation, body, behaviour);
        return { status: 200, body: projectJson(state.addProject(customer, title, description ?? '')) };
      },
    },
    {
      name: 'PUT /projects/{project_id}',
      handle: ({ customer, params, body }) => {
        const project = state.project(customer, params.project_id ?? '');
        const { title, description } = readBody(change, body, behaviour);
        project.title = title ?? project.title;
        project.description = description ?? project.description;
        project.updatedAt = Math.max(state.now(), project.updatedAt + 1);
        return { status: 200, body: projectJson(project) };
      },
    },
  ];
}
