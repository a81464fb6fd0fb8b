import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { OddHttp } from '../../../sandbox/agent/odd-http.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const MIB = 1024 * 1024;
const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(5_000, 7)]);
const table = `gene,fold\n${'TP53,1.5\n'.repeat(300)}`;

/** Reads its files and makes others; what it is asked to fail at, it does at the second attempt. */
const script: AgentScript = async (turn) => {
  const attempt = turn.task.messages.filter(({ role }) => role === 'assistant').length;
  if (turn.text.includes('fail') && (attempt === 1 || turn.text.includes('twice'))) {
    turn.write(`Attempt ${attempt} breaks off.`);
    turn.fail('The model is not there');
  }
  await turn.tool('look_up', { score: 1 }, () => 'Nothing');
  await turn.result('genes.csv', 'text/csv', table);
  await turn.result('chart.png', 'image/png', picture);
  turn.write(`I read ${turn.files.length} files at attempt ${attempt}.`);
};

const scene = await openAppScene({
  agent: { script, behaviour: { multipartThreshold: 5 * MIB, partSize: 5 * MIB, minPartSize: MIB } },
  limits: { refusalMs: 30_000 },
});
const { agent, slack } = scene;
afterEach(() => scene.reset());

const pythonic = (json: string) =>
  `\uFEFF${json.replace(/\}$/, ',"usage":{"score":NaN,"least":-Infinity}}')}\n`;
const odd: [string, OddHttp][] = [
  ['compressed with gzip', { coding: 'gzip' }],
  ['compressed with deflate', { coding: 'deflate' }],
  ['compressed with br', { coding: 'br' }],
  ['after an unasked 100 Continue', { isContinued: true }],
  ['with headers of 20 kB', { headerBytes: 20_000 }],
  ['with a byte order mark and NaN', { rewrite: pythonic }],
];

const small = { name: 'small.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' };
// No table: each upload of one is searched for cells that a spreadsheet has altered, which costs most of a second.
const large = { name: 'large.bam', mime: 'application/octet-stream', bytes: 'a,b\n'.repeat((6 * MIB) / 4) };

/** What the files hold that the bot has shared in a thread. */
async function sharedFiles(channel: ReturnType<typeof scene.channel>, root: ReturnType<typeof scene.ask>) {
  const ids = scene.replies(channel, root).flatMap(({ fileIds }) => fileIds);
  return await Promise.all(ids.map(async (id) => (await slack.fileBytes(id)).toString('latin1')));
}

describe('a service and its storage that answer', () => {
  test.for(odd)('%s: a question with files is answered once, with its results', async ([what, http]) => {
    agent.behaviour.oddHttp = () => http;
    const channel = scene.channel();
    const projects = agent.projects.length;
    const root = scene.ask(channel, `read these, ${what}`, { files: [small, large] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 2 files at attempt 1.');
    expect(await sharedFiles(channel, root)).toEqual([picture.toString('latin1'), table]);
    expect(agent.projects).toHaveLength(projects + 1);
    expect(scene.sentToAgent(`read these, ${what}`).texts).toHaveLength(1);
  });

  test.for([
    ['small', 4_711n],
    ['too large for JavaScript', 2n ** 60n],
  ] as const)('with ids that are numbers, %s: a question with files is answered', async ([what, from]) => {
    agent.behaviour.numbersFrom = from;
    agent.behaviour.oddHttp = () => ({ rewrite: (json) => json.replaceAll(/"(\d{4,})"/g, '$1') });
    const channel = scene.channel();
    const root = scene.ask(channel, `numbered, ${what}`, { files: [small, large] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 2 files at attempt 1.');
    expect(await sharedFiles(channel, root)).toEqual([picture.toString('latin1'), table]);
    expect(scene.sentToAgent(`numbered, ${what}`).texts).toHaveLength(1);
  });

  test('with errors in that form say the same', async () => {
    agent.behaviour.oddHttp = () => ({ coding: 'gzip' });
    agent.faults.add({
      call: 'POST /experimental/tasks',
      fault: { kind: 'status', status: 422, body: { detail: 'No such title' } },
    });
    const channel = scene.channel();
    const root = scene.ask(channel, 'a refused one');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('No such title');
  });
});

test.each(['gzip', 'br'] as const)(
  'results that a bucket keeps as %s are shown as they are',
  async (coding) => {
    agent.behaviour.storedCoding = coding;
    const channel = scene.channel();
    const root = scene.ask(channel, `kept as ${coding}`);
    await scene.finished(channel, root);
    expect(await sharedFiles(channel, root)).toEqual([picture.toString('latin1'), table]);
    expect(scene.shown(channel, root)).not.toContain(strings.resultNotShown);
  },
);

describe('what is created by calls whose answers cannot be read', () => {
  /** Asks in two threads of a new channel, which say what to do; how many projects were made for each. */
  async function askUnread() {
    const projects = agent.projects.length;
    const channel = scene.channel();
    const roots = [scene.ask(channel, 'one'), scene.ask(channel, 'another')];
    for (const root of roots) {
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain(strings.serviceUnreadable);
    }
    return { channel, projectsForEach: (agent.projects.length - projects) / roots.length };
  }

  const redirect = { kind: 'body', body: '', status: 302, headers: { location: '/made' } } as const;

  test.each([
    ['half a body', { kind: 'body', body: '{"id":' } as const],
    ['a redirect', redirect],
  ])('is one more project at most after %s, and each thread says what to do', async (_, misbehaviour) => {
    agent.behaviour.misbehaviour = (call) => (call === 'POST /projects' ? misbehaviour : undefined);
    const { channel, projectsForEach } = await askUnread();
    expect(projectsForEach).toBeLessThanOrEqual(2);
    agent.behaviour.misbehaviour = null;
    const later = scene.ask(channel, 'a third');
    await scene.finished(channel, later);
    expect(scene.shown(channel, later)).toContain('I read 0 files');
  });

  test('is a message that is found in its task after a redirect', async () => {
    const send = 'POST /experimental/tasks/{task_id}/messages';
    agent.behaviour.misbehaviour = (call) => (call === send ? redirect : undefined);
    const channel = scene.channel();
    const root = scene.ask(channel, 'sent and redirected');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 0 files');
    expect(scene.sentToAgent('sent and redirected').texts).toHaveLength(1);
  });

  test.each([
    ['that call', 'POST /projects'],
    ['any call', undefined],
  ])('is one more project at most where the head of no answer to %s can be read', async (_, unread) => {
    agent.behaviour.oddHttp = (call) =>
      unread === undefined || call === unread ? { headerBytes: 70_000 } : undefined;
    expect((await askUnread()).projectsForEach).toBeLessThanOrEqual(2);
  });

  test('is a task that is found in the list of its project', async () => {
    agent.behaviour.misbehaviour = (call) =>
      call === 'POST /experimental/tasks' ? { kind: 'body', body: '' } : undefined;
    const channel = scene.channel();
    const root = scene.ask(channel, 'the task is found');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 0 files');
    expect(agent.tasks.filter(({ title }) => title === 'the task is found')).toHaveLength(1);
  });

  test('is one more upload at most, and the question goes without the file', async () => {
    let started = 0;
    agent.behaviour.misbehaviour = (call) => {
      if (call !== 'POST /experimental/files') return undefined;
      started += 1;
      return { kind: 'body', body: '[]' };
    };
    const channel = scene.channel();
    const root = scene.ask(channel, 'without its file', { files: [small] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 0 files');
    expect(scene.shown(channel, root)).toContain("the agent service couldn't take it in");
    expect(started).toBe(2);
  });
});

describe('a message that is forbidden', () => {
  const page = '<html><head><title>Blocked by the firewall</title></head></html>';

  test.for(['POST /experimental/tasks', 'POST /experimental/tasks/{task_id}/messages'])(
    'by the page of a gateway, for what %s says, is told with its reason',
    async (call) => {
      const about = `drop table genes ${call.length}`;
      agent.faults.add({ call, about, fault: { kind: 'status', status: 403, body: page } });
      const channel = scene.channel();
      const root = scene.ask(channel, `what does '; ${about} do`);
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain(strings.messageRejected('Blocked by the firewall'));
    },
  );

  test('by the service, because its task is, is told as that', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'before it is forbidden');
    await scene.finished(channel, root);
    const about = scene.taskOf('before it is forbidden')?.id ?? '?';
    agent.faults.add({ call: /task_id/, about, fault: { kind: 'status', status: 403 } });
    const next = scene.reply(channel, root, 'and once it is');
    await scene.finished(channel, next);
    expect(scene.shown(channel, root)).toContain(strings.taskForbidden);
  });
});

describe('a name that the service has already', () => {
  const taken = { kind: 'status', status: 409, body: { detail: 'There is one of this name' } } as const;

  test('ends a question that needs a project, and the thread says why', async () => {
    agent.faults.add({ call: 'POST /projects', fault: taken });
    const channel = scene.channel();
    const root = scene.ask(channel, 'in a project of a taken name');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.newProjectRefused('There is one of this name'));
  });

  test('leaves out a file, and the question is answered without it', async () => {
    agent.faults.add({ call: 'POST /experimental/files', fault: taken });
    const channel = scene.channel();
    const root = scene.ask(channel, 'read this file of a taken name', { files: [small] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 0 files');
    expect(scene.shown(channel, root)).toContain('There is one of this name');
  });
});

describe('a file', () => {
  const passing = (status: number, code: string) =>
    ({ kind: 'status', status, body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>` }) as const;

  test.for([
    ['PUT upload', passing(400, 'RequestTimeout'), 2],
    ['PUT upload', passing(409, 'OperationAborted'), 2],
    ['PUT upload', passing(403, 'AccessDenied'), 1],
    ['PUT upload', passing(400, 'ExpiredToken'), 1],
    ['PUT part', passing(400, 'RequestTimeout'), 2],
    ['PUT part', passing(404, 'NoSuchUpload'), 1],
    ['PUT part', passing(409, 'Conflict'), 1],
  ] as const)(
    'is attached although storage refuses its %s with %o at first, %i times',
    async ([call, fault, times]) => {
      agent.faults.add({ call, fault, times });
      const channel = scene.channel();
      const root = scene.ask(channel, 'read this', { files: [call === 'PUT part' ? large : small] });
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain('I read 1 files');
    },
  );

  test('whose link leads where nobody may go is left out at once, and is not called refused', async () => {
    agent.behaviour.misbehaviour = (call) =>
      call === 'POST /experimental/files'
        ? { kind: 'body', body: { id: 'file_1', upload_url: 'http://10.0.0.1/bucket/a' } }
        : undefined;
    const channel = scene.channel();
    const root = scene.ask(channel, 'read this from elsewhere', { files: [small] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 0 files');
    expect(scene.shown(channel, root)).toContain(
      strings.fileMissing({ name: small.name, reason: 'service_failed' }),
    );
  });

  test('is attached with a weak ETag', async () => {
    agent.behaviour.etag = 'weak';
    const channel = scene.channel();
    const root = scene.ask(channel, 'read this weakly', { files: [large] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I read 1 files');
  });
});

describe('a reply that fails', () => {
  test.for([
    ['at once', 0, 'full'],
    ['after a while', 1_500, 'full'],
    ['without naming the message', 300, 'null'],
  ] as const)(
    'is followed by the second one that the service begins %s',
    async ([when, secondReplyMs, input]) => {
      Object.assign(agent.behaviour, { secondReplyMs, input });
      const channel = scene.channel();
      const root = scene.ask(channel, `fail once, ${when}`);
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain('I read 0 files at attempt 2.');
      expect(scene.shown(channel, root)).not.toContain('breaks off');
      expect(scene.shown(channel, root)).not.toContain('The model is not there');
      expect(await sharedFiles(channel, root)).toHaveLength(2);
    },
  );

  test('twice ends as the second one did', async () => {
    agent.behaviour.secondReplyMs = 0;
    const channel = scene.channel();
    const root = scene.ask(channel, 'fail twice');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Attempt 2 breaks off.');
    expect(scene.shown(channel, root)).toContain('The model is not there');
  });
});
