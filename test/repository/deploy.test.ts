import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { settingRows } from '../../src/config/environment-and-secret-files.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const known = new Set(
  settingRows().flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
);
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) console.warn('No systemd-analyze was found: the test of the systemd unit is skipped.');
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

const networkPolicy = z.looseObject({
  kind: z.literal('NetworkPolicy'),
  spec: z.looseObject({
    egress: z.array(
      z.looseObject({
        ports: z.array(z.looseObject({ port: z.union([z.number(), z.string()]) })),
        to: z
          .array(
            z.looseObject({
              ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
            }),
          )
          .optional(),
      }),
    ),
  }),
});

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

  test('what every call of docker compose reads stands in .env, and the pages say so', () => {
    const file = read('compose.yaml');
    const names = [...file.matchAll(/\$\{(\w+)/g)].flatMap(([, name = '']) => name);
    expect(names).toEqual(['AGENT_BASE_URL']);
    const [, comment = ''] = /^((?:#.*\n)+)/.exec(file) ?? [];
    const [, section = ''] = /## Compose\n([\s\S]*?)\n## /.exec(read('docs/install.md')) ?? [];
    for (const text of [comment, section])
      for (const name of names) expect(text).toMatch(new RegExp(`\\.env[\\s\\S]*${name}=`));
  });

  test('deploy/kubernetes.yaml does too, with two replicas that may write nothing', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown => one.toJS());
    const [first] = documents;
    const [container] = deployment.parse(first).spec.template.spec.containers;
    expect(complaints((container?.env ?? []).map(({ name }) => name))).toEqual([]);
  });

  test('deploy/kubernetes.yaml lets no web request into private networks', () => {
    const policy = parseAllDocuments(read('deploy/kubernetes.yaml'))
      .map((one): unknown => one.toJS())
      .find((one) => networkPolicy.safeParse(one).success);
    const { egress } = networkPolicy.parse(policy).spec;
    const web = egress.filter(({ ports }) => ports.some(({ port }) => port === 443));
    expect(web).toHaveLength(1);
    const open = egress.filter(({ to }) => to === undefined);
    expect(open.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([53, 53]);
    const blocks = web[0]?.to?.map(({ ipBlock }) => ipBlock) ?? [];
    expect(blocks).toEqual([
      {
        cidr: '0.0.0.0/0',
        except: expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
      },
      { cidr: '2000::/3' },
    ]);
    expect(blocks[0]?.except).toEqual(
      expect.arrayContaining(['169.254.0.0/16', '100.64.0.0/10', '127.0.0.0/8']),
    );
  });

  test('both take away every right, and the image runs as a user without any, and is looked after', () => {
    const taskthread = z
      .looseObject({ services: z.looseObject({ taskthread: z.unknown() }) })
      .parse(parse(read('compose.yaml'))).services.taskthread;
    expect(taskthread).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    const [first] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown => one.toJS());
    const [container] = deployment.parse(first).spec.template.spec.containers;
    expect(container).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      livenessProbe: { httpGet: { path: '/healthz' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
    });
    const stages = read('Dockerfile').split(/^FROM /m);
    expect(stages.length).toBeGreaterThan(2);
    // In the last stage: npm, which does not pass signals on, starts nothing.
    const image = stages.at(-1) ?? '';
    expect(image).toMatch(/^USER 1000:1000$/m);
    expect(image).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(image).toMatch(/^HEALTHCHECK [\s\S]*\/healthz/m);
    expect(image).toMatch(/^CMD \["node", "dist\/main.js"\]$/m);
    expect(read('Dockerfile')).toMatch(/npm ci --ignore-scripts --omit=dev --omit=optional/);
  });

  test.each([
    ['127.0.0.1', { HOST: '' }],
    ['127.0.0.1', { HOST: '0.0.0.0' }],
    ['127.0.0.1', { HOST: '::' }],
    ['127.0.0.2', { HOST: '127.0.0.2' }],
  ])("the image's health check asks at %s with %j", async (address, environment) => {
    const [, command] = /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
    const [, ...rest] = z.array(z.string()).parse(JSON.parse(command ?? ''));
    const server = createServer((request, response) =>
      response.writeHead(request.url === '/healthz' ? 200 : 404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    onTestFinished(() => void server.close());
    const found = server.address();
    const PORT = String(typeof found === 'object' ? found?.port : 0);
    await expect(
      promisify(execFile)(process.execPath, rest, { env: { ...environment, PORT } }),
    ).resolves.toBeDefined();
  });

  test('the pod stays until no more events are sent to it, and longer than it takes to stop', () => {
    const [first] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown => one.toJS());
    const { terminationGracePeriodSeconds: grace, containers } = z
      .looseObject({
        terminationGracePeriodSeconds: z.number(),
        containers: z.array(
          z.looseObject({
            lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }),
          }),
        ),
      })
      .parse(deployment.parse(first).spec.template.spec);
    const sleep = containers[0]?.lifecycle.preStop.sleep.seconds ?? 0;
    const drain = Number(settingRows().find(({ name }) => name === 'DRAIN_SECONDS')?.fallback);
    expect(sleep).toBeGreaterThan(0);
    expect(grace).toBeGreaterThan(sleep + drain + 20);
  });

  test('the database of compose.yaml is well only once it answers by TCP, as Taskthread asks it', () => {
    const { database } = z
      .looseObject({
        services: z.looseObject({
          database: z.looseObject({ healthcheck: z.looseObject({ test: z.array(z.string()) }) }),
        }),
      })
      .parse(parse(read('compose.yaml'))).services;
    expect(database.healthcheck.test.join(' ')).toContain('pg_isready -h 127.0.0.1');
  });

  test('replicas survive a lost host, and one that is not ready does not keep a host from being emptied', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one): unknown => one.toJS());
    const app = { matchLabels: { app: 'taskthread' } };
    expect(documents[0]).toMatchObject({
      spec: {
        template: {
          spec: {
            enableServiceLinks: false,
            topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: app }],
            containers: [{ startupProbe: { periodSeconds: 2, failureThreshold: 300 } }],
          },
        },
      },
    });
    expect(documents).toContainEqual(
      expect.objectContaining({
        kind: 'PodDisruptionBudget',
        spec: expect.objectContaining({ unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: app }),
      }),
    );
    expect(documents).toContainEqual(
      expect.objectContaining({
        kind: 'NetworkPolicy',
        spec: expect.objectContaining({ podSelector: app, policyTypes: ['Ingress', 'Egress'] }),
      }),
    );
  });

  test.skipIf(!hasSystemd)('systemd finds nothing wrong with deploy/taskthread.service', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'taskthread-unit-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'taskthread.service');
    // It also looks whether the program is there.
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
    await writeFile(file, read('deploy/taskthread.service').replaceAll('/opt/taskthread', root));
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]);
    expect(stderr.split('\n').filter((line) => line.includes('taskthread.service'))).toEqual([]);
  });

  test('a setting that is none, and one that is missing, are found', () => {
    expect(complaints(['SLACK_BOT_TOKEN_FILE', 'AGENT_BASE_URL', 'AGENT_KEY'])).toEqual([
      'AGENT_KEY is no setting',
      'AGENT_API_KEY is missing',
    ]);
  });
});
