import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { contentFrom } from '../../../sandbox/slack/file-content.ts';
import type { SlackFile } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const mib = 1024 * 1024;
const scene = await openAppScene({
  tls: true,
  s3: true,
  agent: { behaviour: { partSize: 5 * mib, multipartThreshold: 5 * mib, refusedTypes: ['.exe'] } },
  settings: { FILE_TYPES: '!.zip,!audio/*' },
  limits: { maxFileBytes: 8 * mib, maxMessageBytes: 10 * mib, maxMessageFiles: 3, maxInlineBytes: 0 },
});
const { agent } = scene;

/** What is a file in the end, however it comes. */
const had: { kind: SlackFile['kind']; name: string | null }[] = [
  { kind: 'snippet', name: 'snippet.txt' },
  { kind: 'connect_stub', name: 'stub.csv' },
  { kind: 'processing', name: 'slow.csv' },
  { kind: 'breaks_off', name: 'broken.csv' },
  { kind: 'hosted', name: null },
  { kind: 'new_mode', name: 'board.bin' },
  { kind: 'uncounted', name: 'uncounted.csv' },
  { kind: 'as_page', name: 'page.csv' },
  { kind: 'elsewhere', name: 'elsewhere.csv' },
];

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

describe.concurrent('an attachment', () => {
  test('that is large is uploaded in parts and arrives whole, and its results are posted with working links', async () => {
    const channel = scene.channel();
    const row = `A1,12.5,${'north '.repeat(200)}\n`;
    const bytes = Buffer.from(`name,value,side\n${row.repeat(Math.ceil((6 * mib) / row.length))}`);
    const root = scene.ask(channel, 'summarise this large one', {
      files: [{ name: 'large.csv', mime: 'text/csv', bytes }],
    });
    await scene.finished(channel, root);
    const stored = agent.files.find(({ name }) => name === 'large.csv');
    expect(await stored?.sha256()).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(agent.calls.filter(({ name }) => name.endsWith('/parts')).length).toBeGreaterThan(0);
    const links = JSON.stringify(scene.replies(channel, root).map(({ blocks }) => blocks));
    const urls = [...links.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls).toHaveLength(2);
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
  });

  test('that is small is uploaded in one piece, whatever its name', async () => {
    const channel = scene.channel();
    const name = 'Größe <1> & "so" 测试 😀.csv';
    const root = scene.ask(channel, 'a file with an odd name', {
      files: [{ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }],
    });
    await scene.finished(channel, root);
    expect(agent.files.some((file) => file.name === name)).toBe(true);
    expect(scene.sentToAgent('a file with an odd name').fileIds[0]).toHaveLength(1);
  });

  test('is named as missing in the thread when it was deleted, or changes while it is read', async () => {
    const channel = scene.channel();
    const files: { name: string; kind?: SlackFile['kind'] }[] = [
      { name: 'gone.csv', kind: 'tombstone' },
      { name: 'new.csv', kind: 'changes' },
      { name: 'fine.csv' },
    ];
    const root = scene.ask(channel, 'with what is missing', {
      files: files.map((file) => ({ ...file, mime: 'text/csv', bytes: 'a,b\n1,2\n' })),
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain('was left out: it was deleted');
    expect(shown).toContain('“new.csv” was left out: it changed');
    expect(shown.match(/ left out/g)).toHaveLength(2);
    expect(scene.sentToAgent('with what is missing').fileIds[0]).toHaveLength(1);
  });

  test('that is too large, empty or refused is named, and the message goes without it', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'none of these', {
      files: [
        { name: 'huge.csv', mime: 'text/csv', size: 9 * mib },
        { name: 'empty.csv', mime: 'text/csv', bytes: '' },
        { name: 'virus.exe', mime: 'application/x-msdownload', bytes: 'MZ' },
      ],
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain("“huge.csv” was left out: it's too large");
    expect(shown).toContain("“empty.csv” was left out: it's empty");
    expect(shown).toContain('“virus.exe” was left out: the agent service rejected it');
    const [text] = scene.sentToAgent('none of these').texts;
    expect(text?.split('\n')).toEqual([
      ...['none of these', '', strings.leftOut],
      expect.stringMatching(/^- “huge\.csv” was left out: it's too large/),
      expect.stringMatching(/^- “empty\.csv” was left out: it's empty/),
      expect.stringMatching(/^- “virus\.exe” was left out: the agent service rejected it/),
    ]);
  });

  test.each([[had.slice(0, 3)], [had.slice(3, 6)], [had.slice(6)]])(
    'arrives whole, of whatever kind it is (%j)',
    async (kinds) => {
      const channel = scene.channel();
      const files = kinds.map(({ kind, name }) => {
        const bytes = Buffer.from(`kind,value\n${`${kind.padEnd(100, '.')},1\n`.repeat(3_000)}`);
        return { kind, name, mime: 'text/csv', bytes };
      });
      const question = `of the kind ${kinds.map(({ kind }) => kind).join()}`;
      const root = scene.ask(channel, question, { files });
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).not.toContain('left out');
      const sums = new Set<string | undefined>();
      for (const id of scene.sentToAgent(question).fileIds[0] ?? [])
        sums.add(await agent.files.find((file) => file.id === id)?.sha256());
      expect(sums).toEqual(new Set(files.map(({ bytes }) => sha256(bytes))));
    },
  );

  test('that Slack writes anew, or that is HTML by another name, arrives as it is', async () => {
    const channel = scene.channel();
    const bytes = '<html><body><table><tr><td>A1</td></tr></table></body></html>';
    const root = scene.ask(channel, 'read plan and plate', {
      files: [
        { name: 'Team_plan', kind: 'canvas', mime: 'application/vnd.slack-docs', bytes: '<h1>Plan</h1>' },
        { name: 'plate.xls', mime: 'application/vnd.ms-excel', bytes },
        { name: 'tasks', kind: 'list', mime: 'application/octet-stream', bytes: 'x' },
      ],
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain("“tasks” was left out: it's a list, which Slack doesn't let me download.");
    expect(shown.match(/ left out/g)).toHaveLength(1);
    const sent = scene.sentToAgent('read plan and plate').fileIds[0] ?? [];
    const files = sent.map((id) => agent.files.find((file) => file.id === id));
    expect(files.map((file) => file?.name)).toEqual(['Team_plan.html', 'plate.xls']);
    expect(await files[0]?.sha256()).toBe(sha256('<h1>Plan</h1>'));
    expect(await files[1]?.sha256()).toBe(sha256(bytes));
  });

  test('that is an e-mail in Slack arrives as text, with who wrote it to whom', async () => {
    const channel = scene.channel();
    const email = {
      subject: 'Results of run 7',
      from: 'Ida Berg <ida@lab.example>',
      to: ['core@lab.example', 'Per <per@lab.example>'],
      date: 'Mon, 2 Nov 2026 10:00:00 +0000',
      attachments: ['run7.xlsx'],
    };
    const file = {
      name: 'Results of run 7',
      kind: 'email',
      mime: 'text/html',
      email,
      bytes: 'It worked.\n',
    } as const;
    const root = scene.ask(channel, 'what does this mail say', { files: [file] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).not.toContain('left out');
    const [id] = scene.sentToAgent('what does this mail say').fileIds[0] ?? [];
    const sent = agent.files.find((one) => one.id === id);
    expect(sent?.name).toBe('Results of run 7.txt');
    const lines = [
      'Subject: Results of run 7',
      'From: Ida Berg <ida@lab.example>',
      'To: core@lab.example, Per <per@lab.example>',
      'Date: Mon, 2 Nov 2026 10:00:00 +0000',
      'Attachments (not included): run7.xlsx',
    ];
    expect(await sent?.sha256()).toBe(sha256(`${lines.join('\n')}\n\nIt worked.\n`));
  });

  test('that is a voice clip is a question once Slack has written down what it says', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'first in writing');
    await scene.finished(channel, root);
    const transcript = 'How many samples failed?';
    const clip = { name: 'audio_message.mp4', mime: 'video/mp4', transcript, bytes: 'sound' };
    await scene.finished(channel, scene.reply(channel, root, '', { files: [clip] }));
    const { texts, fileIds } = scene.sentToAgent('first in writing');
    expect(texts[1]).toBe("[Slack's transcript of audio_message.mp4: How many samples failed?]");
    expect(fileIds[1]).toHaveLength(1);
  });

  test('that is hosted elsewhere is passed on as a link', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'read the linked one', {
      files: [{ name: 'a [plan].gdoc', kind: 'external', mime: 'text/csv', bytes: 'x' }],
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('outside Slack');
    expect(scene.sentToAgent('read the linked one').texts[0]).toMatch(
      /^read the linked one\n\nA file that was shared as a link:\n- \[a plan \.gdoc\]\(<https:\/\/drive\.example\.com\/file\/F\w+>\)$/,
    );
  });

  test('without text waits for the next message, and the thread says so', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'first the question');
    await scene.finished(channel, root);
    const dropped = scene.reply(channel, root, '', {
      files: [{ name: 'dropped.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }],
    });
    await scene.finished(channel, dropped);
    expect(scene.shown(channel, root)).toContain('I have “dropped.csv”. Write what the agent should do, and');
    expect(scene.sentToAgent('first the question').texts).toHaveLength(1);
    const next = scene.reply(channel, root, 'now read it');
    await scene.finished(channel, next);
    const last = scene.reply(channel, root, 'and now without');
    await scene.finished(channel, last);
    const { texts, fileIds } = scene.sentToAgent('first the question');
    expect(texts).toEqual(['first the question', 'now read it', 'and now without']);
    expect(fileIds.map((ids) => ids.length)).toEqual([0, 1, 0]);
  });

  test('without text is never sent once its message is deleted', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'the files to keep');
    await scene.finished(channel, root);
    const share = async (name: string) => {
      const files = [{ name, mime: 'text/csv', bytes: `${name}\n1\n` }];
      const shared = scene.reply(channel, root, '', { files });
      await scene.finished(channel, shared);
      return shared;
    };
    const deleted = await share('mistake.csv');
    await share('right.csv');
    scene.slack.remove(channel.id, deleted.ts);
    await scene.slack.settled();
    await scene.finished(channel, scene.reply(channel, root, 'read what is there'));
    const files = scene.sentToAgent('the files to keep').fileIds.flat();
    expect(files.map((id) => agent.files.find((file) => file.id === id)?.name)).toEqual(['right.csv']);
  });

  test('without text is not sent once it is deleted in Slack, which the agent reads', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'the files that stay');
    await scene.finished(channel, root);
    const file = (name: string) => ({
      name,
      mime: 'text/csv',
      kind: 'snippet' as const,
      bytes: `${name}\n1\n`,
    });
    const shared = scene.reply(channel, root, '', { files: [file('wrong.csv'), file('wanted.csv')] });
    await scene.finished(channel, shared);
    const [wrong = ''] = shared.fileIds;
    Object.assign(scene.slack.file(wrong), { isDeleted: true, kind: 'tombstone' });
    await scene.finished(channel, scene.reply(channel, root, 'read what is left'));
    const { texts, fileIds } = scene.sentToAgent('the files that stay');
    const sent = fileIds.flat().map((id) => agent.files.find((one) => one.id === id)?.name);
    expect(sent).toEqual(['wanted.csv']);
    expect(texts.at(-1)).toMatch(/read what is left[\s\S]*wrong\.csv.*was deleted/);
    expect(texts.at(-1)).not.toContain('wanted.csv');
  });

  test('without text holds up no question where Slack keeps failing at it, and is gone where Slack has none', async () => {
    const channel = scene.channel();
    const file = (name: string) => ({ name, mime: 'text/csv', bytes: `${name}\n1\n` });
    const root = scene.ask(channel, 'the files in doubt');
    await scene.finished(channel, root);
    const shared = scene.reply(channel, root, '', { files: [file('failing.csv'), file('gone.csv')] });
    await scene.finished(channel, shared);
    const [failing = '', gone = ''] = shared.fileIds;
    const refused = (error: string) => ({ kind: 'status', status: 200, body: { ok: false, error } }) as const;
    scene.slack.faults.add({ call: 'files.info', about: failing, fault: refused('internal_error') });
    scene.slack.faults.add({ call: 'files.info', about: gone, fault: refused('file_not_found') });
    await scene.finished(channel, scene.reply(channel, root, 'read them'));
    const { fileIds } = scene.sentToAgent('the files in doubt');
    const sent = fileIds.flat().map((id) => agent.files.find((one) => one.id === id)?.name);
    expect(sent).toEqual(['failing.csv']);
  });

  test('without text is still sent once retention has deleted its name', async () => {
    const channel = scene.channel();
    const file = (name: string) => ({ files: [{ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }] });
    const root = scene.ask(channel, '', file('secret.csv'));
    await scene.finished(channel, root);
    const { store } = scene.sandbox.bot;
    await store.db
      .updateTable('turns')
      .set({ finished_at: sql<Date>`now() - interval '8 days'` })
      .where('channel', '=', channel.id)
      .execute();
    await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
    const next = scene.reply(channel, root, 'now read both', file('second.csv'));
    await scene.finished(channel, next);
    expect(scene.sentToAgent('now read both').fileIds[0]).toHaveLength(2);
    expect(
      (await store.turns.ofMessage({ workspace: scene.slack.team.id, channel: channel.id, ts: next.ts }))
        ?.file_notes,
    ).toMatchObject([{ name: 'unnamed file' }, { name: 'second.csv' }]);
  });

  test('that is shared in three messages of two threads is uploaded once, and again once it was edited', async () => {
    const channel = scene.channel();
    const bytes = Buffer.alloc(mib / 16, 'one and the same\n');
    const first = scene.ask(channel, 'same file, first', {
      files: [{ name: 'same.bin', mime: 'application/octet-stream', bytes }],
    });
    const file = scene.slack.file(first.fileIds[0] ?? '');
    const second = scene.shareAgain(channel, 'same file, second', [file.id, file.id]);
    await Promise.all([scene.finished(channel, first), scene.finished(channel, second)]);
    const third = scene.shareAgain(channel, 'same file, third', [file.id], first);
    await scene.finished(channel, third);
    expect(agent.files.filter(({ name }) => name === 'same.bin')).toHaveLength(1);
    const ids = [
      ...scene.sentToAgent('same file, first').fileIds,
      ...scene.sentToAgent('same file, second').fileIds,
    ];
    expect(ids.map((one) => one.length)).toEqual([1, 1, 1]);
    expect(new Set(ids.flat()).size).toBe(1);

    const edited = Buffer.from('not the same any more\n');
    file.content = contentFrom({ bytes: edited });
    const fourth = scene.shareAgain(channel, 'same file, edited', [file.id], first);
    await scene.finished(channel, fourth);
    const [last = ''] = scene.sentToAgent('same file, first').fileIds.at(-1) ?? [];
    expect(ids.flat()).not.toContain(last);
    expect(await agent.files.find(({ id }) => id === last)?.sha256()).toBe(sha256(edited));
  });

  test('that is a snippet is sent anew with each message, because an edit may keep its size', async () => {
    const channel = scene.channel();
    const file = {
      name: 'run.txt',
      mime: 'text/plain',
      kind: 'snippet' as const,
      bytes: Buffer.from('dose 1\n'),
    };
    const first = scene.ask(channel, 'a snippet', { files: [file] });
    await scene.finished(channel, first);
    const edited = Buffer.from('dose 2\n');
    scene.slack.file(first.fileIds[0] ?? '').content = contentFrom({ bytes: edited });
    await scene.finished(channel, scene.shareAgain(channel, 'the same snippet', first.fileIds, first));
    const [last = ''] = scene.sentToAgent('a snippet').fileIds.at(-1) ?? [];
    expect(await agent.files.find(({ id }) => id === last)?.sha256()).toBe(sha256(edited));
  });

  test('that is a snippet which was edited while its message waited goes as it is then', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 before the snippet');
    await scene.until('the agent writes', () => scene.shown(channel, root).includes('Second 1'));
    const files = [{ name: 'doses.txt', mime: 'text/plain', kind: 'snippet' as const, bytes: 'dose 1\n' }];
    const reply = scene.reply(channel, root, 'read my snippet', { files });
    await scene.slack.settled();
    const edited = Buffer.from('dose 1\ndose 2\n');
    scene.slack.file(reply.fileIds[0] ?? '').content = contentFrom({ bytes: edited });
    await scene.hurry('/slow 9000 before the snippet');
    await scene.finished(channel, reply);
    expect(scene.shown(channel, root)).not.toContain('left out');
    const [sent = ''] = scene.sentToAgent('/slow 9000 before the snippet').fileIds.at(-1) ?? [];
    expect(await agent.files.find(({ id }) => id === sent)?.sha256()).toBe(sha256(edited));
  });

  test('that is one of several of one name has a name of its own, for people and the agent', async () => {
    const channel = scene.channel();
    const image = (bytes: string) => ({ name: 'image.png', mime: 'image/png', bytes });
    const root = scene.ask(channel, 'compare both pictures', {
      files: [image('first'), image(''), image('third')],
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain("“image (2).png” was left out: it's empty");
    const sent = scene.sentToAgent('compare both pictures').fileIds[0] ?? [];
    const stored = sent.map((id) => agent.files.find((one) => one.id === id));
    expect(stored.map((one) => one?.name)).toEqual(['image.png', 'image (3).png']);
    expect(await stored[1]?.sha256()).toBe(sha256('third'));
  });

  test('has a name of its own, too, beside files of its name that wait, and where Slack tells the names later', async () => {
    const channel = scene.channel();
    const image = (bytes: string, kind?: SlackFile['kind']) => ({
      ...{ name: 'image.png', mime: 'image/png', bytes },
      ...(kind && { kind }),
    });
    const root = scene.ask(channel, 'pictures to come');
    await scene.finished(channel, root);
    for (const bytes of ['first', 'second'])
      await scene.finished(channel, scene.reply(channel, root, '', { files: [image(bytes)] }));
    expect(scene.shown(channel, root)).toContain('I have “image (2).png”.');
    const last = { files: [image('third', 'connect_stub'), image('fourth', 'connect_stub')] };
    await scene.finished(channel, scene.reply(channel, root, 'compare them all', last));
    const [, ids = []] = scene.sentToAgent('pictures to come').fileIds;
    const names = ids.map((id) => agent.files.find((one) => one.id === id)?.name ?? '');
    expect(names.slice(0, 2)).toEqual(['image.png', 'image (2).png']);
    expect(new Set(names).size).toBe(4);
  });

  test("beyond this app's limits is left out before anything is downloaded", async () => {
    const channel = scene.channel();
    // A download of one of these would be told as what it is: not allowed.
    const kind = 'withheld';
    const root = scene.ask(channel, 'over all limits', {
      files: [
        { name: 'bomb.zip', mime: 'application/zip', bytes: 'PK', kind },
        { name: 'one.bin', size: 3 * mib },
        { name: 'two.bin', size: 7.5 * mib, kind },
        { name: 'fourth.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n', kind },
      ],
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain("“bomb.zip” was left out: I don't send files of this type here.");
    expect(shown).toContain('“two.bin” was left out: the files in this message, quoted');
    expect(shown).toContain('“fourth.csv” was left out: there are too many files');
    expect(scene.sentToAgent('over all limits').fileIds[0]).toHaveLength(1);
  });

  test('of a quoted message that is one too many is named with a way to send it, which works', async () => {
    const channel = scene.channel();
    const file = (n: number) => ({ name: `gel-${n}.csv`, mime: 'text/csv', bytes: `gel\n${n}\n` });
    const root = scene.slack.say({ person: scene.ada, channel, text: 'Two gels.', files: [1, 2].map(file) });
    scene.reply(channel, root, 'One more.', { person: scene.grace, files: [file(3)] });
    const more = { thread: root.ts, files: [file(4)] };
    await scene.finished(channel, scene.ask(channel, 'compare all gels', more));
    expect(scene.shown(channel, root)).toContain(
      '“gel-3.csv” was left out: there are too many files in one message, quoted ones included. Share it again in another message. The limit is 3.',
    );
    const again = { thread: root.ts, files: [file(3)] };
    await scene.finished(channel, scene.ask(channel, 'with this one', again));
    const sent = scene.sentToAgent('compare all gels').fileIds;
    const names = sent.map((ids) => ids.map((id) => agent.files.find((one) => one.id === id)?.name));
    expect(names).toEqual([['gel-4.csv', 'gel-1.csv', 'gel-2.csv'], ['gel-3.csv']]);
  });

  test('that is a zip bomb is passed on as plain bytes', async () => {
    const channel = scene.channel();
    const bytes = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(1_000)]);
    const root = scene.ask(channel, 'a bomb', {
      files: [{ name: 'bomb.gz', mime: 'application/gzip', bytes }],
    });
    await scene.finished(channel, root);
    const stored = agent.files.find(({ name }) => name === 'bomb.gz');
    expect(await stored?.sha256()).toBe(sha256(bytes));
  });

  test('called something odd is sent under a usable name', async () => {
    const channel = scene.channel();
    const names = [
      ['../../etc/passwd', '.._.._etc_passwd'],
      [`${'n'.repeat(300)}.csv`, `${'n'.repeat(251)}.csv`],
      ['a\u0007b\u202E😀.csv', 'a b😀.csv'],
    ] as const;
    const files = names.map(([name]) => ({ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }));
    await scene.finished(channel, scene.ask(channel, 'some odd ones', { files }));
    const sent = agent.files.map(({ name }) => name);
    for (const [, name] of names) expect(sent).toContain(name);
  });

  test('that the service finds too large is reported in its words', async () => {
    const channel = scene.channel();
    agent.behaviour.maxFileBytes = 6.5 * mib;
    const root = scene.ask(channel, 'too large over there', {
      files: [{ name: 'over.bin', size: 7 * mib }],
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('“over.bin” was left out: the agent service rejected it');
  });
});

test('a long upload shows the progress of each file, and Stop ends it', async ({ onTestFinished }) => {
  const behaviour = { partSize: mib, multipartThreshold: mib, minPartSize: 1 };
  const slow = await openAppScene(
    { agent: { behaviour: behaviour }, limits: { maxInlineBytes: 0 } },
    onTestFinished,
  );
  // Some parts arrive; the rest is held until the agent is stopped.
  const stopped = Promise.withResolvers<void>();
  onTestFinished(() => stopped.resolve());
  slow.agent.faults.add({ call: 'PUT part', times: 4, fault: { kind: 'latency', ms: 100 } });
  slow.agent.faults.add({ call: 'PUT part', fault: { kind: 'hold', until: stopped.promise } });
  const channel = slow.channel();
  const root = slow.ask(channel, 'this takes long', {
    files: [
      { name: 'long.bin', size: 40 * mib },
      { name: 'small.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' },
      { name: 'gone.csv', kind: 'tombstone' },
    ],
  });
  const percent = await slow.until('a percentage is shown', () => {
    const shown = slow.shown(channel, root);
    return /“long\.bin” \(42 MB\): (?!0 %)(\d+) %/.test(shown) && shown.includes('2 of 3') && shown;
  });
  expect(percent).toContain('“small.csv” (8 bytes): sent');
  expect(percent).toContain('was left out: it was deleted');
  expect(percent).toContain('2 of 3');
  const [reply] = slow.replies(channel, root);
  await slow.slack.click({ person: slow.ada, channel, ts: reply?.ts ?? '', actionId: 'stop' });
  await slow.finished(channel, root);
  expect(slow.shown(channel, root)).toContain('Stopped by');
  const puts = slow.agent.calls.filter(({ name }) => name === 'PUT part').length;
  expect(puts).toBeLessThan(40);
  await slow.expectStays(() => slow.agent.tasks[0]?.messages, []);
});
