import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { settingRows } from '../src/config.ts';

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const known = new Set(
  settingRows().flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
);
const required = settingRows().filter(({ fallback }) => fallback === 'required');

const compose = z.looseObject({
  services: z.looseObject({
    taskthread: z.looseObject({
      environment: z.record(z.string(), z.string()),
      secrets: z.array(z.string()),
      read_only: z.literal(true),
    }),
  }),
  secrets: z.record(z.string(), z.unknown()),
});
const deployment = z.looseObject({
  kind: z.literal('Deployment'),
  spec: z.looseObject({
    replicas: z.literal(2),
    template: z.looseObject({
      spec: z.looseObject({
        securityContext: z.looseObject({ runAsNonRoot: z.literal(true) }),
        containers: z.array(
          z.looseObject({
            env: z.array(z.looseObject({ name: z.string(), value: z.string() })),
            securityContext: z.looseObject({ readOnlyRootFilesystem: z.literal(true) }),
          }),
        ),
      }),
    }),
  }),
});

/** What is wrong with the settings of an example. */
function complaints(names: readonly string[]): string[] {
  return [
    ...names.filter((name) => !known.has(name)).map((name) => `${name} is no setting`),
    ...required
      .filter(({ name }) => !names.includes(name) && !names.includes(`${name}_FILE`))
      .map(({ name }) => `${name} is missing`),
  ];
}

describe('the examples of how to run it', () => {
  test('compose.yaml gives every setting that is needed, and each secret from its file', () => {
    const { services, secrets } = compose.parse(parse(read('compose.yaml')));
    const { environment, secrets: used } = services.taskthread;
    expect(complaints(Object.keys(environment))).toEqual([]);
    for (const [name, value] of Object.entries(environment)) {
      if (!name.endsWith('_FILE')) continue;
      const secret = value.replace('/run/secrets/', '');
      expect(used).toContain(secret);
      expect(Object.keys(secrets)).toContain(secret);
    }
  });

  test('deploy/kubernetes.yaml does too, with two replicas that may write nothing', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown => one.toJS());
    const [first] = documents;
    const [container] = deployment.parse(first).spec.template.spec.containers;
    expect(documents).toHaveLength(3);
    expect(complaints((container?.env ?? []).map(({ name }) => name))).toEqual([]);
  });

  test('a setting that is none, and one that is missing, are found', () => {
    expect(complaints(['SLACK_BOT_TOKEN_FILE', 'AGENT_BASE_URL', 'AGENT_KEY'])).toEqual([
      'AGENT_KEY is no setting',
      'AGENT_API_KEY is missing',
    ]);
  });
});
