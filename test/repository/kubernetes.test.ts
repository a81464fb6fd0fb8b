import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const MANIFEST = 'deploy/kubernetes.yaml';
const [, page = ''] = /## Kubernetes\n([\s\S]*?)\n## /.exec(read('docs/install.md')) ?? [];

const object = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const objectsOf = (text: string) => parseAllDocuments(text).map((one) => object.parse(one.toJS()));

/** What is wrong with the objects of each file by the types of Kubernetes 1.30, which know each field. Empty: nothing. */
async function complaints(files: Record<string, readonly z.infer<typeof object>[]>): Promise<string> {
  // Below node_modules, so that the types are found.
  const folder = await mkdtemp(join(root, 'node_modules/.kubernetes-'));
  const names = Object.keys(files).map((name) => join(folder, name));
  for (const [name, objects] of Object.entries(files)) {
    const lines = objects.map(({ apiVersion, kind, ...fields }, index) => {
      const from = apiVersion.includes('/') ? apiVersion.replace('.k8s.io', '') : `core/${apiVersion}`;
      const value = JSON.stringify({ apiVersion, kind, ...fields });
      return `export const object${index}: import('kubernetes-types/${from}.d.ts').${kind} = ${value};`;
    });
    await writeFile(join(folder, name), lines.join('\n'));
  }
  const options = ['--noEmit', '--strict', '--ignoreConfig', '--module', 'nodenext', '--types', ''];
  // The declarations themselves are not the question, which takes a tenth of the time then.
  options.push('--skipLibCheck', '--lib', 'es2024');
  const program = join(root, 'node_modules/typescript/bin/tsc');
  try {
    await promisify(execFile)(process.execPath, [program, ...options, ...names]);
    return '';
  } catch (error) {
    return z.object({ stdout: z.string() }).parse(error).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const text = read(MANIFEST);
/** With all that is commented out. */
const whole = text.replaceAll(/^( +)# (?=(?:- \{|\w+: ))/gm, '$1');
const odd = text.replace('preStop:', 'beforeStop:');
const found = await complaints({
  'known.ts': [...objectsOf(text), ...objectsOf(whole)],
  'odd.ts': objectsOf(odd),
});

test('deploy/kubernetes.yaml has only fields that Kubernetes 1.30 knows, also with all that is commented out', () => {
  expect(whole.match(/NODE_EXTRA_CA_CERTS|imagePullSecrets/g)).toHaveLength(2);
  expect(JSON.stringify(objectsOf(whole))).toMatch(/"imagePullSecrets".*"NODE_EXTRA_CA_CERTS"/);
  expect(found).not.toContain('known.ts');
});

test('a field that Kubernetes 1.30 does not know is found', () => {
  expect(found).toMatch(/odd\.ts\(.*'"?beforeStop"?' does not exist/);
});

test('docs/install.md makes each secret that deploy/kubernetes.yaml reads, and no other', () => {
  const [command = ''] = page.match(/kubectl create secret .*/) ?? [];
  const made = [...command.matchAll(/--from-file=(\S+)/g)].map(([, name]) => name);
  const used = [...read(MANIFEST).matchAll(/_FILE, value: \/secrets\/(\S+) /g)].map(([, name]) => name);
  expect(made).toEqual(used);
  for (const name of made) expect(page).toContain(`\`${name}\``);
});

test("by docs/install.md, Prometheus scrapes the pod's port of the metrics, and has every alert", () => {
  const [command = ''] = /^\{ cat .*/m.exec(page) ?? [];
  expect(read('deploy/kubernetes-monitoring.yaml')).toContain(`#   ${command}\n`);
  const applied = execFileSync('sh', ['-c', command.replace('kubectl apply -f -', 'cat')], { cwd: root });
  const [monitor, rule] = objectsOf(applied.toString());
  const [deployment] = objectsOf(read(MANIFEST));
  expect(deployment).toMatchObject({
    metadata: { labels: { app: 'taskthread' } },
    spec: {
      template: {
        metadata: { labels: { app: 'taskthread' } },
        spec: {
          containers: [{ ports: expect.arrayContaining([{ name: 'metrics', containerPort: 9464 }]) }],
        },
      },
    },
  });
  expect(monitor).toMatchObject({
    kind: 'PodMonitor',
    spec: { selector: { matchLabels: { app: 'taskthread' } }, podMetricsEndpoints: [{ port: 'metrics' }] },
  });
  expect(rule).toMatchObject({ kind: 'PrometheusRule' });
  expect(rule?.spec).toEqual(parse(read('deploy/prometheus-alerts.yaml')));
});
