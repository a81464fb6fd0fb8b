import { describe, expect, test } from 'vitest';
import {
  commandComplaints,
  commandsOf,
  linkComplaints,
  nameComplaints,
  readPages,
  readRepository,
} from './docs-checks.ts';

const pages = readPages();
const repository = readRepository();
const named = [...pages.keys()];

describe.each(named)('%s', (page) => {
  const text = pages.get(page) ?? '';

  test('has only commands that can be run', () => {
    expect(commandsOf(text).flatMap((command) => commandComplaints(command, repository))).toEqual([]);
  });

  test('names only settings, scripts and files that are there', () => {
    expect(nameComplaints(text, repository)).toEqual([]);
  });

  test('has only links that lead somewhere', () => {
    expect(linkComplaints(page, pages, repository)).toEqual([]);
  });
});

test('the way of a message has at most twelve stops, each with links to its files', () => {
  const [, way = ''] =
    /## The way of a message\n([\s\S]*?)\n## /.exec(pages.get('docs/architecture.md') ?? '') ?? [];
  const stops = way.split(/^\d+\. /m).slice(1);
  expect(stops.length).toBeGreaterThan(5);
  expect(stops.length).toBeLessThanOrEqual(12);
  for (const stop of stops) expect(stop).toMatch(/\]\(\.\.\/src\/[^)]+\.ts\)/);
});

test('each page in docs/ is one click from the README', () => {
  const missing = named.filter(
    (page) => page.startsWith('docs/') && !pages.get('README.md')?.includes(`(${page})`),
  );
  expect(missing).toEqual([]);
});

test.each([
  ['README.md', 1_300],
  ['docs/operations.md', 2_300],
  ['docs/troubleshooting.md', 3_500],
  ['docs/operator-troubleshooting.md', 2_000],
  ['docs/alerts.md', 1_000],
])('a reader gets through %s: it has at most %i words', (page, limit) => {
  expect((pages.get(page) ?? '').trim().split(/\s+/).length).toBeLessThanOrEqual(limit);
});

describe('the checks of the pages', () => {
  test('read the commands of a block, without its comments', () => {
    const block = '1. Start\n\n   ```sh\n   npm ci && npm run demo # all of it\n   ```\n\n```json\n{}\n```\n';
    expect(commandsOf(block)).toEqual(['npm ci', 'npm run demo']);
  });

  test.each([
    ['npm run dmeo', 'no script dmeo'],
    ['npm run bench -- speed', 'no bench speed'],
    ['AGENT_KEY=x docker compose up -d', 'AGENT_KEY is no setting'],
    ['AGENT_BASE_URL=x docker compose up -d', 'AGENT_BASE_URL: it belongs into .env'],
    ['docker run -e DATABASE=x taskthread', 'DATABASE is no setting'],
    ['docker compose exec cache sh', 'no service'],
    ['kubectl apply -f deploy/nothing.yaml', 'deploy/nothing.yaml is not there'],
    ['npm run vitest -- test/nothing', 'test/nothing is not there'],
    ['curl localhost:3000/health', 'no address'],
    ['.ci/nothing', 'nothing is known'],
    ['make', 'nothing is known'],
  ])('find what is wrong with %j', (command, complaint) => {
    expect(commandComplaints(command, repository).join('\n')).toContain(complaint);
  });

  test('find settings, scripts and files that are not there', () => {
    const text = 'Set `SLACK_TOKEN`, then `npm run begin`; see `test/nothing.test.ts`.';
    expect(nameComplaints(text, repository)).toEqual([
      'SLACK_TOKEN is no setting',
      'there is no script begin',
      'test/nothing.test.ts is not there',
    ]);
  });

  test('find links to no file and to no heading', () => {
    const made = new Map([
      ['README.md', '[a](docs/a.md#to-be-read) [b](docs/a.md#other) [c](docs/b.md) [d](https://slack.com)'],
      ['docs/a.md', '# A\n\n## To be read!\n'],
    ]);
    const complaints = linkComplaints('README.md', made, { exists: (path) => made.has(path) });
    expect(complaints).toEqual([
      'README.md: docs/a.md#other leads to no heading',
      'README.md: docs/b.md leads to no file',
    ]);
  });
});
