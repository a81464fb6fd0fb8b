import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InteractiveSandbox, startInteractiveSandbox } from '../../../sandbox/interactive-sandbox.ts';

describe("the page's server", () => {
  let sandbox: InteractiveSandbox;
  beforeAll(async () => {
    sandbox = await startInteractiveSandbox({ bot: false });
  });
  afterAll(() => sandbox.stop());

  /** Asks the page's server, with any headers. */
  async function ask(
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
    const { body, ...rest } = options;
    const sent = request(new URL(sandbox.page.url), { path, ...rest });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  const act = (fields: object, headers: Record<string, string> = { 'x-sandbox': 'page' }) =>
    ask('/action', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(fields),
    });

  test('answers this machine only, under its own host name', async () => {
    expect((await ask('/')).status).toBe(200);
    expect((await ask('/', { headers: { host: 'localhost:4700' } })).status).toBe(200);
    expect((await ask('/', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await ask('/live', { headers: { host: '127.0.0.1.evil.example' } })).status).toBe(403);
  });

  test('accepts actions from its own page, not from a form of another site', async () => {
    const { slack } = sandbox;
    const person = [...slack.team.people.values()].find(({ name }) => name === 'ada')?.id;
    const channel = [...slack.team.channels.values()].find(({ name }) => name === 'sequencing')?.id ?? '';
    const said = { kind: 'say', person, channel, text: 'Hello' };
    expect((await act(said, {})).status).toBe(403);
    expect(slack.messages(channel)).toEqual([]);
    expect(JSON.parse((await act(said)).body)).toMatchObject({ ok: true });
    expect(slack.messages(channel).map((one) => one.text)).toEqual(['Hello']);
    const ts = slack.messages(channel)[0]?.ts;
    const other = [...slack.team.people.values()].find(({ name }) => name === 'grace')?.id;
    const taken = await act({ kind: 'remove', person: other, channel, ts });
    expect(JSON.parse(taken.body)).toEqual({ ok: false, error: 'That is not your message.' });
    expect((await act({ kind: 'dance' })).status).toBe(400);
  });

  test('serves TypeScript without its types, and nothing outside of its folder', async () => {
    const { body, headers } = await ask('/page-state.ts');
    expect(headers['content-type']).toContain('javascript');
    expect(body).toContain('class PageState');
    expect(body).not.toContain('import type');
    for (const path of [
      '/../page-server.ts',
      '/%2e%2e/page-server.ts',
      '/style/../../page-server.ts',
      '/tsconfig.json',
      '/none.ts',
    ])
      expect((await ask(path)).status).toBe(404);
  });

  test('lets the browser load nothing from elsewhere, and run no script of a shared file', async () => {
    expect((await ask('/')).headers['content-security-policy']).toMatch(
      /^default-src 'self'; img-src 'self'/,
    );
    const { slack } = sandbox;
    const [person = ''] = [...slack.team.people.values()].flatMap(({ id, name }) =>
      name === 'ada' ? [id] : [],
    );
    const [channel = ''] = [...slack.team.channels.values()].flatMap(({ id, name }) =>
      name === 'coffee' ? [id] : [],
    );
    const files = [{ name: 'page.html', mime: 'text/html', bytes: '<script>alert(1)</script>' }];
    const [id = ''] = slack.say({ person, channel, text: '', files }).fileIds;
    const file = await ask(`/files/${id}?start=8`);
    expect(file.headers['content-type']).toBe('application/octet-stream');
    expect(file.headers['content-security-policy']).toContain('sandbox');
    expect(file.body).toBe('<script>');
    expect((await ask(`/files/${id}?start=-1`)).body).toBe('');
    expect((await ask('/files/F0')).status).toBe(404);
  });
});
