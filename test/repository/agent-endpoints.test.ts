import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AgentClient } from '../../src/agent/agent-client.ts';
import type { CallAttempt } from '../../src/agent/client-options.ts';
import { apiKey, localServer } from '../support/local-server.ts';
import { readPage } from './generated-pages.ts';

const file = { projectId: 'p', filename: 'f', sizeBytes: 1, mimeType: 'text/plain' };

/** How each method that makes a call of its own is called. */
const calls: Readonly<Record<string, (client: AgentClient) => Promise<unknown>>> = {
  createProject: (client) => client.createProject({ title: 't' }),
  updateProject: (client) => client.updateProject('p', { title: 't' }),
  readProject: (client) => client.readProject('p'),
  startTask: (client) => client.startTask({ projectId: 'p', title: 't' }),
  requireProject: (client) => client.requireProject('p'),
  listTasks: (client) => client.listTasks('p'),
  getTask: (client) => client.getTask('t'),
  deleteTask: (client) => client.deleteTask('t'),
  cancelTask: (client) => client.cancelTask('t'),
  listResults: (client) => client.listResults('t'),
  allResults: (client) => client.allResults('t'),
  sendMessage: (client) => client.sendMessage('t', { content: 'c' }),
  listMessages: (client) => client.listMessages('t'),
  messagesAfter: (client) => client.messagesAfter('t', null).next(),
  lastMessage: (client) => client.lastMessage('t'),
  getMessage: (client) => client.getMessage('t', 'm'),
  cancelMessage: (client) => client.cancelMessage('t', 'm'),
  getFile: (client) => client.getFile('f'),
  openFileContent: (client) => client.openFileContent('f'),
  startUpload: (client) => client.startUpload(file),
  partUrls: (client) => client.partUrls('f', 'u', [1]),
  finalizeUpload: (client) => client.finalizeUpload('f', null),
};

/** Methods that call no endpoint. */
const others = ['constructor', 'close', 'presence', 'hasSucceededAfter'];

/** The document and the client name the ids in paths differently. */
function withoutNames(endpoint: string): string {
  return endpoint.replaceAll(/\{\w+\}/g, '{}');
}

/** The endpoints that the client's methods call. */
async function endpointsOfClient(): Promise<string[]> {
  await using server = await localServer((_request, response) => response.writeHead(404).end('{}'));
  const tries: CallAttempt[] = [];
  const client = new AgentClient({
    baseUrl: `${server.origin}/v1`,
    apiKey,
    allowedHosts: ['127.0.0.1'],
    onAttempt: (made) => tries.push(made),
  });
  for (const call of Object.values(calls)) await expect(call(client)).rejects.toThrow('404');
  await client.close();
  return [...new Set(tries.map(({ call }) => withoutNames(call)))].sort();
}

/** The rows of the page: endpoint, place, path of the test. */
async function rows(): Promise<{ endpoint: string; where: string; proof: string }[]> {
  const text = await readPage('docs/endpoints.md');
  return [...text.matchAll(/^\| `([A-Z]+ \/[^`]*)` \| (.+) \| `(test\/[^`]+)` \|$/gm)].map(
    ([, endpoint = '', where = '', proof = '']) => ({ endpoint, where, proof }),
  );
}

test('every method of the client that calls an endpoint is known here', () => {
  const methods = Object.getOwnPropertyNames(AgentClient.prototype);
  expect(methods.sort()).toEqual([...Object.keys(calls), ...others].sort());
});

test('docs/endpoints.md has each endpoint that the client calls, once', async () => {
  const listed = (await rows()).map(({ endpoint }) => withoutNames(endpoint));
  expect(listed.toSorted()).toEqual(await endpointsOfClient());
  expect(listed).toHaveLength(17);
});

test('the tests that docs/endpoints.md names are there', async () => {
  const missing = (await rows()).filter(
    ({ proof }) => !existsSync(new URL(`../../${proof}`, import.meta.url)),
  );
  expect(missing).toEqual([]);
});
