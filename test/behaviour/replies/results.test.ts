import { createHash } from 'node:crypto';
import pino from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { Faults } from '../../../sandbox/faults.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(5_000, 7)]);
const table = ['gene,fold', ...Array.from({ length: 30 }, (_, row) => `g${row},${row}`)].join('\n');

/** Their endings tell that they are pictures. */
const pictureName = (n: number) => `chart-${n}.${['webp', 'png', 'JPG', 'jpeg', 'gif'][n % 5]}`;

const oddNames = ['run 1/gel.png', 'gel\u202Egnp\n2.png', `${'测'.repeat(120)}.png`];

/** Holds back the files that are made after the answer. */
const laterFiles = Promise.withResolvers<void>();
/** Holds back the end of an answer. */
const heldAnswer = Promise.withResolvers<void>();
/** Makes what its message asks for: `pictures 12, tables 1, announced 1, shown 1, big 1, notes 250, held 1, later 1`. */
const maker: AgentScript = async (turn) => {
  const asked = new Map([...turn.text.matchAll(/(\w+) (\d+)/g)].map(([, what = '', n]) => [what, Number(n)]));
  const each = async (what: string, make: (n: number) => Promise<void>) => {
    for (let n = 1; n <= (asked.get(what) ?? 0); n += 1) await make(n);
  };
  await each('pictures', (n) => turn.result(pictureName(n), 'application/octet-stream', png));
  await each('tables', (n) => turn.result(`genes-${n}.csv`, 'text/csv', table));
  await each('shown', async () => {
    await turn.result('shown.csv', 'text/csv', 'gene,fold\nTP53,1.2345\n');
    turn.write('| gene | fold |\n| --- | --- |\n| TP53 | 1.23 |\n\n');
  });
  await each('big', (n) => turn.result(`big-${n}.png`, 'image/png', Buffer.alloc(1_200_000)));
  await each('notes', (n) => turn.result(`note-${n}.txt`, 'text/plain', `Note ${n}\n`));
  await each('announced', async () => {
    await turn.result('counts.csv.gz', 'text/csv', table);
    await turn.result('figure.png.gz', 'image/png', png);
    await turn.result('matrix.txt', 'text/plain', 'gene\tfold\r\nTP53\t1.2\nMYC\t3\n');
    await turn.result('report.txt', 'text/plain', 'A report.\n\nAll went well.\n');
  });
  await each('odd', async () => {
    for (const name of oddNames) await turn.result(name, 'image/png', png);
  });
  await each('crowded', async () => turn.write(`|a|b|\n|-|-|\n${'![a]('.repeat(3_900)}\n\n`));
  await each('held', async () => {
    turn.write('A beginning. ');
    await heldAnswer.promise;
  });
  const later = asked.get('later');
  if (later !== undefined) {
    turn.background(async () => {
      await laterFiles.promise;
      for (let n = 1; n <= later; n += 1) {
        await turn.result(`later-${n}.png`, 'image/png', png);
        // Longer than between two checks: each file is found alone.
        await pause(700);
      }
    });
  }
  turn.write('I made some files.');
};

const limits = { maxInlineBytes: 1024 * 1024, watchIntervalMs: 600, maxBackgroundWaitMs: 0 };
const scene = await openAppScene({ tls: true, agent: { script: maker }, limits });

async function asked(
  stage: AppScene,
  text: string,
  channel = stage.channel(),
): Promise<{ channel: Channel; root: Message }> {
  const root = stage.ask(channel, text);
  await stage.finished(channel, root);
  return { channel, root };
}

/** The thread's messages that show files, each with their names. */
function shares(stage: AppScene, channel: Channel, root: Message): string[][] {
  return stage
    .replies(channel, root)
    .filter(({ fileIds }) => fileIds.length > 0)
    .map(({ fileIds }) => fileIds.map((id) => stage.slack.file(id).name ?? ''));
}

function urls(stage: AppScene, channel: Channel, root: Message): string[] {
  const blocks = JSON.stringify(stage.replies(channel, root).map((message) => message.blocks));
  return [...blocks.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
}

describe.concurrent('the results of a turn', () => {
  test('take two messages: a list of all, and an upload of four that says what it leaves out', async () => {
    const { channel, root } = await asked(scene, 'pictures 3, big 1, shown 1, tables 2, notes 1');
    await scene.until('the upload is there', () => shares(scene, channel, root).length > 0);
    const [, list, upload, ...more] = scene.replies(channel, root);
    expect(more).toEqual([]);
    expect(urls(scene, channel, root)).toHaveLength(8);
    const names = upload?.fileIds.map((id) => scene.slack.file(id).name);
    expect(names).toEqual([pictureName(1), pictureName(2), pictureName(3), 'genes-1.csv']);
    const listed = list === undefined ? '' : scene.slack.visibleText(list);
    const reasons = [
      ['big-1.png', strings.resultTooLarge],
      ['shown.csv', strings.resultInAnswer],
      ['genes-2.csv', strings.resultsShown(4)],
    ];
    for (const [name, reason] of reasons) expect(listed).toMatch(new RegExp(`${name}\\n.* · ${reason}`));
    expect(listed).not.toMatch(/(note-1\.txt|genes-1\.csv)\n.* · .* · /);
    const [id = ''] =
      scene.replies(channel, root).findLast(({ fileIds }) => fileIds.length > 0)?.fileIds ?? [];
    const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(sha256(await scene.slack.fileBytes(id))).toBe(sha256(png));
  });

  test('that are many tables are not all read to compare them with those of the answer', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene({ agent: { script: maker }, limits }, onTestFinished);
    const { channel, root } = await asked(own, 'shown 1, tables 30');
    await own.until('the upload is there', () => shares(own, channel, root).length > 0);
    expect(own.shown(channel, root)).toMatch(new RegExp(`shown.csv\n.* · ${strings.resultInAnswer}`));
    // Eight are read, and four are shown.
    expect(own.agent.calls.filter(({ name }) => name === 'GET download')).toHaveLength(12);
  });

  test('that are many small texts keep no table from being compared with those of the answer', async () => {
    const { channel, root } = await asked(scene, 'shown 1, notes 8');
    expect(scene.shown(channel, root)).toMatch(new RegExp(`shown.csv\n.* · ${strings.resultInAnswer}`));
    expect(shares(scene, channel, root)).toEqual([]);
  });

  test('are shown by what their names say they are, and texts with tabs like tables', async () => {
    const { channel, root } = await asked(scene, 'announced 1');
    await scene.until('the upload is there', () => shares(scene, channel, root).length > 0);
    expect(shares(scene, channel, root)).toEqual([['matrix.txt']]);
    expect(urls(scene, channel, root)).toHaveLength(4);
  });

  test('have names in Slack that every file system takes, and the titles of the list', async () => {
    const { channel, root } = await asked(scene, 'odd 1');
    await scene.until('the upload is there', () => shares(scene, channel, root).length > 0);
    expect(shares(scene, channel, root)).toEqual([
      ['run 1_gel.png', 'gelgnp 2.png', `${'测'.repeat(83)}.png`],
    ]);
    const titles = scene
      .replies(channel, root)
      .flatMap(({ fileIds }) => fileIds.map((id) => scene.slack.file(id).title));
    expect(titles).toEqual(['run 1/gel.png', 'gelgnp 2.png', oddNames[2]]);
    for (const title of titles) expect(scene.shown(channel, root)).toContain(`${title}\n`);
  });

  test('are posted once, also those made after the answer', async () => {
    const { channel, root } = await asked(scene, 'notes 1, later 2');
    await scene.until('the first one is there', () => scene.shown(channel, root).includes('note-1.txt'));
    laterFiles.resolve();
    await scene.until('the later ones are there', () => scene.shown(channel, root).includes('later-2.png'));
    await scene.until('who asked is told', () =>
      scene.shown(channel, root).includes('work in the background is done'),
    );
    // The third says that the task worked on.
    expect(scene.replies(channel, root)).toHaveLength(5);
    const id = scene.taskOf('notes 1, later 2')?.id ?? '';
    const looks = (links: string | undefined) =>
      scene.agent.calls.filter(
        ({ path, query }) => path.endsWith(`${id}/results`) && query.with_urls === links,
      );
    await scene.until('more looks have found nothing new', () => looks('false').length > 2);
    // Links at the end of the turn, and once more for each of the later files.
    expect(looks(undefined).length).toBeLessThanOrEqual(3);
    const shown = scene.shown(channel, root);
    expect(shown.match(/later-1\.png\n/g)).toHaveLength(1);
    expect(shown).toContain('from the agent, made after the answer');
    expect(shown.match(/note-1\.txt\n/g)).toHaveLength(1);
    const button = scene
      .replies(channel, root)
      .findLast(({ blocks }) => JSON.stringify(blocks ?? []).includes('fresh_links'));
    await scene.slack.click({
      person: scene.grace,
      channel,
      ts: button?.ts ?? '',
      actionId: 'fresh_links',
    });
    const told = await scene.until('the links are there', () => {
      const shown = JSON.stringify(scene.slack.modal(scene.grace)?.blocks ?? []);
      return shown.includes('note-1.txt') && shown;
    });
    expect(told).toContain('later-2.png');
    expect(scene.slack.modal(scene.ada)).toBeUndefined();
  });
});

test.concurrent('results claimed after one turn and not posted before the next are posted after that', async () => {
  const { channel, root } = await asked(scene, 'notes 1');
  const next = scene.reply(channel, root, 'and on');
  await scene.finished(channel, next);
  const { db } = scene.sandbox.bot.store;
  await db
    .updateTable('posted_results')
    .set({ batch: 'later', posted_at: null })
    .where('thread_ts', '=', root.ts)
    .execute();
  await scene.until('it is posted', () => scene.shown(channel, root).includes('made after the answer'));
  await scene.expectStays(() => scene.shown(channel, root).match(/made after the answer/g)?.length, 1);
});

test.concurrent('a file whose upload response was lost is not shared again', async () => {
  const channel = scene.channel();
  const call = 'files.completeUploadExternal';
  scene.slack.faults.add({ call, about: channel.id, fault: { kind: 'lost' }, times: 1 });
  const { root } = await asked(scene, 'pictures 2', channel);
  await scene.until('the pictures are there', () => shares(scene, channel, root).length > 0);
  expect(shares(scene, channel, root)).toEqual([[pictureName(1), pictureName(2)]]);
  const calls = scene.slack.calls.filter(({ args }) => args.channel_id === channel.id);
  expect(calls.filter(({ method }) => method === call)).toHaveLength(1);
});

test.concurrent('a file that Slack accepts and never shows is listed as such, and the others appear', async ({
  onTestFinished,
}) => {
  const slack = { unshownFiles: /^chart-2/ };
  const own = await openAppScene({ agent: { script: maker }, slack, limits }, onTestFinished);
  const { channel, root } = await asked(own, 'pictures 2');
  await own.until('it is told', () => own.shown(channel, root).includes(strings.resultNotShown));
  expect(shares(own, channel, root)).toEqual([[pictureName(1)]]);
  const [, list] = own.replies(channel, root);
  const listed = list === undefined ? '' : own.slack.visibleText(list);
  expect(listed).toMatch(new RegExp(`${pictureName(2)}\n.* · ${strings.resultNotShown}`));
  expect(listed).not.toMatch(new RegExp(`${pictureName(1)}\n.* · ${strings.resultNotShown}`));
});

describe.concurrent('results that cannot be listed or shown', () => {
  test('leave the answer as it is, and are offered and posted once they can be read', async ({
    onTestFinished,
  }) => {
    const faults = new Faults();
    const own = await openAppScene(
      { agent: { script: maker, faults }, limits: { ...limits, badThingMs: 500 } },
      onTestFinished,
    );
    const call = 'GET /experimental/tasks/{task_id}/results';
    const end = faults.add({ call, fault: { kind: 'status', status: 200, body: { none: true } } });
    const { channel, root } = await asked(own, 'notes 1');
    end();
    const { ts } = await own.messageWithButton(channel, root, 'fresh_links');
    await own.slack.click({ person: own.ada, channel, ts, actionId: 'fresh_links' });
    await own.until('the links are there', () =>
      JSON.stringify(own.slack.modal(own.ada) ?? '').includes('note-1.txt'),
    );
    const shown = own.shown(channel, root);
    expect(shown).toContain('I made some files.');
    expect(shown).toContain(strings.resultsUnavailable);
    expect(shown).not.toContain(strings.buttons.retry.label);
    await own.until('they are posted', () => own.shown(channel, root).includes('note-1.txt'));
  });

  test('may not be all of them where the service ignores the cursor, and the thread says so', async ({
    onTestFinished,
  }) => {
    const agent = { script: maker, behaviour: { listCursors: false } };
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (text) => void lines.push(text) });
    const own = await openAppScene({ agent, limits, log }, onTestFinished);
    const { channel, root } = await asked(own, 'notes 150');
    const told = () => own.shown(channel, root).split(strings.resultsIncomplete).length - 1;
    await own.until('the list says so', () => told() > 0);
    await own.finished(channel, own.reply(channel, root, 'notes 1'));
    await own.until('the next list says so, too', () => told() > 1);
    expect(told()).toBe(2);
    expect(lines.join('')).toMatch(/"listed":100,"code":"incomplete_results"/);
  });

  test('are named where Slack does not take their links', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'notes 1, held 1');
    await scene.until('the answer shows', () => scene.shown(channel, root).includes('A beginning.'));
    const body = { ok: false, error: 'invalid_blocks' };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault, times: 1 });
    heldAnswer.resolve();
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain('note-1.txt');
    expect(shown).toContain(strings.linksRefused);
    expect(shown).not.toContain(strings.retriesExhausted);
  });
});

test('an answer crafted to take the parser long is compared with a table without holding up the process', async ({
  onTestFinished,
}) => {
  const short = { ...limits, maxReplyMessages: 1 };
  const own = await openAppScene({ agent: { script: maker }, limits: short }, onTestFinished);
  let longestMs = 0;
  let { user: before } = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user } = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user - before) / 1_000);
    before = user;
  });
  const { channel, root } = await asked(own, 'crowded 9, tables 1');
  clearInterval(timer);
  await own.until('the table is there', () => shares(own, channel, root).length > 0);
  expect(longestMs).toBeLessThan(withinMs(500));
});

describe('results that cannot be shown', () => {
  afterEach(() => scene.reset());

  test('a workspace that accepts no files gets the links', async () => {
    const before = scene.agent.calls.length;
    const body = { ok: false, error: 'file_uploads_disabled' };
    scene.slack.faults.add({
      call: 'files.getUploadURLExternal',
      fault: { kind: 'status', status: 200, body },
    });
    const { channel, root } = await asked(scene, 'pictures 2');
    expect(urls(scene, channel, root)).toHaveLength(2);
    expect(scene.shown(channel, root)).toContain(strings.resultNotShown);
    expect(shares(scene, channel, root)).toEqual([]);
    expect(scene.agent.calls.slice(before).filter(({ name }) => name === 'GET download')).toEqual([]);
  });

  test('a channel in which admins block files gets the links, and the turn ends as usual', async () => {
    const channel = scene.channel();
    const body = { ok: false, error: 'slack_connect_file_upload_sharing_blocked' };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'files.completeUploadExternal', about: channel.id, fault });
    const { root } = await asked(scene, 'pictures 1', channel);
    expect(urls(scene, channel, root)).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain(strings.resultNotShown);
    expect(shares(scene, channel, root)).toEqual([]);
    const told = scene.slack.messages(scene.slack.openDm(scene.ada)).map(({ text }) => text);
    expect(told).not.toContain(strings.replyUnreachable(channel.id));
  });

  test('a picture that cannot be downloaded is left to its link after one attempt with a new link', async () => {
    const before = scene.agent.calls.length;
    scene.agent.faults.add({ call: 'GET download', fault: { kind: 'status', status: 403 } });
    const { channel, root } = await asked(scene, 'pictures 1');
    expect(urls(scene, channel, root)).toHaveLength(1);
    expect(shares(scene, channel, root)).toEqual([]);
    expect(scene.agent.calls.slice(before).filter(({ name }) => name === 'GET download')).toHaveLength(2);
  });

  test('a picture whose download does not end is left to its link', async ({ onTestFinished }) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const short = (ms: number) => timeout(ms === 120_000 ? 300 : ms);
    const mock = vi.spyOn(AbortSignal, 'timeout').mockImplementation(short);
    onTestFinished(() => mock.mockRestore());
    scene.agent.faults.add({
      call: 'GET download',
      fault: { kind: 'hold', until: new Promise(() => undefined) },
    });
    const { channel, root } = await asked(scene, 'pictures 1');
    expect(urls(scene, channel, root)).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain(strings.resultNotShown);
  });
});

test.concurrent('100 results take one list, and its button shows all of their links', async ({
  onTestFinished,
}) => {
  const agent = { script: maker, behaviour: { downloadLinkLength: 2_500 } };
  const many = await openAppScene(
    { agent, limits: { ...limits, watchIntervalMs: 3_600_000 } },
    onTestFinished,
  );
  const { channel, root } = await asked(many, 'notes 100');
  const [, list, ...more] = many.replies(channel, root);
  expect(more).toEqual([]);
  expect(many.shown(channel, root)).toContain(strings.moreResultsHint);
  await many.slack.click({ person: many.ada, channel, ts: list?.ts ?? '', actionId: 'fresh_links' });
  const links = await many.until('all links are there', () => {
    const told = JSON.stringify(many.slack.ephemerals(many.ada, channel).map(({ blocks }) => blocks));
    const found = [...told.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    return found.length === 100 && found;
  });
  expect(new Set(links).size).toBe(100);
  expect(links.every((link) => link.length >= 2_500)).toBe(true);
  const window = () => JSON.stringify(many.slack.modal(many.ada)?.blocks ?? []);
  await many.until('the press is told where they are', () => window().includes(strings.freshLinksBelow));
  const last = await fetch(links.at(-1) ?? '');
  expect(await last.text()).toMatch(/^Note \d+\n$/);
  for (const { args } of many.slack.calls.filter(({ method }) => method === 'chat.postMessage'))
    expect(args).toMatchObject({ unfurl_links: 'false', unfurl_media: 'false' });
});

describe.concurrent('a stable link', () => {
  test('leads to a fresh download until the task is deleted, also where the channel gets another id', async ({
    onTestFinished,
  }) => {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const ours = {
      STABLE_LINKS: 'true',
      PUBLIC_URL: `http://127.0.0.1:${port}/`,
      PORT: String(port),
      METRICS_PORT: '0',
      SECRET_KEY: 'k'.repeat(32),
    };
    const agent = { script: maker, behaviour: { downloadLinkMs: 1_500 } };
    const stable = await openAppScene({ agent, limits, settings: ours }, onTestFinished);
    const { channel, root } = await asked(stable, 'notes 2');
    const [link = '', other = ''] = urls(stable, channel, root);
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/results/[\\w-]+\\.[\\w-]+$`));
    const said = JSON.stringify(stable.replies(channel, root).map(({ blocks }) => blocks));
    const inSevenDays = Date.now() / 1_000 + 7 * 86_400;
    const until = Number(
      /These links work until <!date\^(\d+)\^[^|]*\|[\d: -]+ UTC> at the latest/.exec(said)?.[1],
    );
    expect(Math.abs(until - inSevenDays)).toBeLessThan(600);
    const { ada, slack } = stable;
    const list = stable.replies(channel, root).find(({ blocks }) => JSON.stringify(blocks).includes(link));
    await slack.click({ person: ada, channel, ts: list?.ts ?? '', actionId: 'fresh_links' });
    const linkInModal = () => {
      const shown = JSON.stringify(slack.modal(ada)?.blocks ?? []);
      return shown.includes('note-1') && (/http:[^"|]+\/results\/[\w.-]+/.exec(shown)?.[0] ?? 'none');
    };
    const fresh = await stable.until('fresh links are shown', linkInModal);
    await slack.closeView(ada);
    slack.openHome(ada);
    const value = `${channel.id}/${root.ts}`;
    await stable.until('the task is listed', () => JSON.stringify(slack.home(ada) ?? '').includes(value));
    await slack.click({ person: ada, view: 'home', actionId: 'task_details', value });
    const inDetails = await stable.until('the details are shown', linkInModal);
    await pause(1_600);
    for (const given of [link, fresh, inDetails]) expect(await (await fetch(given)).text()).toBe('Note 1\n');
    const bare = await fetch(link, { redirect: 'manual' });
    expect(bare.status).toBe(302);
    expect(bare.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${link}x`)).status).toBe(404);
    expect((await fetch(link, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/nothing`)).status).toBe(404);
    stable.slack.changeId(channel)();
    const { threads } = stable.sandbox.bot.store;
    await stable.until('the thread has moved', () =>
      threads.get({ workspace: root.teamId, channel: channel.id, thread_ts: root.ts }),
    );
    expect(await (await fetch(other)).text()).toBe('Note 2\n');
    const [task] = stable.agent.tasks;
    await fetch(`${stable.agent.url}/experimental/tasks/${task?.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${stable.agent.apiKey}` },
    });
    await stable.until('the link says that it is gone', async () => (await fetch(link)).status === 410);
  });
});
