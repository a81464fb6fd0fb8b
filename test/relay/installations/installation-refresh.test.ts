import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { type Logger, pino } from 'pino';
import { beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { CredentialGate } from '../../../src/calls/credential-gate.ts';
import { InstalledWorkspaces } from '../../../src/relay/installations/installed-workspaces.ts';
import {
  decryptTokens,
  encryptTokens,
  TokenRotation,
} from '../../../src/relay/installations/token-rotation.ts';
import {
  acceptUninstallEvent,
  type UninstallEvent,
  uninstallationJobs,
} from '../../../src/relay/installations/uninstall-events.ts';
import type { WorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import type { RenewableLease } from '../../../src/relay/runtime/lease.ts';
import { SlackAuthError, SlackRateLimitError } from '../../../src/slack/errors.ts';
import type { Installation } from '../../../src/slack/slack-client.ts';
import type { SlackTokens } from '../../../src/slack/tokens.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { Store } from '../../../src/store/store.ts';
import { DecryptionError, encryptionContext, Keyring } from '../../../src/store/workspaces/encryption.ts';
import { compileCache, compiledProgram } from '../../support/compiled-programs.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const away = new StoreError('unavailable', 'The database is away.');
const store = new Store(kysely);
const keyring = new Keyring(['k'.repeat(32)]);
const hour = 3_600_000;
let workspaces = 0;
let id = '';

beforeEach(async () => {
  workspaces += 1;
  id = `T${workspaces}`;
  await install();
});

async function install(token = `xoxb-${id}`, expiresAt: Date | null = null): Promise<void> {
  const tokens = { bot: { token, refreshToken: `refresh-${token}` } };
  await store.installations.put({
    workspace: id,
    enterprise_id: null,
    is_enterprise_install: false,
    name: 'One',
    bot_user_id: 'U1',
    bot_id: 'B1',
    token_expires_at: expiresAt,
    encrypted_tokens: encryptTokens(keyring, id, tokens),
  });
}

async function leave(): Promise<void> {
  const row = await store.installations.get(id);
  expect(await store.installations.markUninstalled(id, row?.change_seq ?? 0)).toBe(true);
}

async function installOrganisation(organisation: string): Promise<void> {
  await store.installations.put({
    workspace: organisation,
    enterprise_id: organisation,
    is_enterprise_install: true,
    name: 'All',
    bot_user_id: 'U2',
    bot_id: 'B2',
    token_expires_at: null,
    encrypted_tokens: encryptTokens(keyring, organisation, { bot: { token: 'xoxb-all' } }),
  });
}

async function leaveOrganisation(organisation: string): Promise<void> {
  const row = await store.installations.get(organisation);
  await store.installations.markUninstalled(organisation, row?.change_seq ?? 0);
}

test('the clients of a workspace are given up after an hour without use, unless a turn has them', async () => {
  const { installed } = await process();
  const first = installed.workspace(id);
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    vi.advanceTimersByTime(2 * hour);
    await installed.refresh(true);
    expect(installed.workspace(id)).toBe(first);
    const deref = vi.spyOn(WeakRef.prototype, 'deref').mockReturnValue(undefined);
    vi.advanceTimersByTime(2 * hour);
    await installed.refresh(true);
    expect(installed.workspace(id)).not.toBe(first);
    deref.mockRestore();
  } finally {
    vi.useRealTimers();
  }
});

/** What Slack does with tokens; to it, every workspace belongs to every organisation. */
function slackTokens(parts: Partial<SlackTokens>): SlackTokens {
  const unexpected = () => Promise.reject(new Error('Slack is not asked for this.'));
  const every = Object.assign(new Set<string>(), { has: () => true });
  return {
    isValid: unexpected,
    renewalPermit: async () => undefined,
    renew: unexpected,
    revoke: unexpected,
    workspacesOf: async () => every,
    ...parts,
  };
}

/** What one process knows; the calls in a workspace are only its token and whether it is left. */
async function process(
  ring = keyring,
  parts: { workspacesOf?: SlackTokens['workspacesOf']; log?: Logger } = {},
) {
  const built = new Map<string, { installation: Installation; gone: AbortSignal }>();
  const gate = new CredentialGate({ setting: 'SLACK_BOT_TOKEN', log: silentLog });
  const installed = new InstalledWorkspaces({
    store,
    keyring: ring,
    slack: slackTokens(parts),
    tokenGateFor: () => gate,
    createWorkspace: (installation, _gate, gone) => {
      built.set(installation.workspace, { installation, gone });
      return { id: installation.workspace } as WorkspaceClient;
    },
    log: parts.log ?? silentLog,
  });
  await installed.refresh(true);
  const use = (workspace = id) => {
    installed.workspace(workspace);
    return built.get(workspace);
  };
  return { installed, use };
}

describe('processes that share installations', () => {
  test("notice another process's changes: a new token, an uninstallation and a reinstallation", async () => {
    const { installed, use } = await process();
    const first = use();
    expect(first?.installation.token).toBe(`xoxb-${id}`);
    await install('xoxb-renewed');
    await installed.refresh();
    expect(first?.installation.token).toBe('xoxb-renewed');
    expect(first?.gone.aborted).toBe(false);
    await leave();
    await installed.refresh();
    expect(installed.workspace(id)).toBeUndefined();
    expect(first?.gone.aborted).toBe(true);
    expect(() => first?.installation.token).toThrow(SlackAuthError);
    await install('xoxb-again');
    expect(await installed.find({ workspace: id })).toMatchObject({ id });
    expect(use()?.installation.token).toBe('xoxb-again');
  });

  test('notice a workspace that was erased', async () => {
    const { installed, use } = await process();
    use();
    await store.workspaceErasure.eraseWorkspace(id);
    await installed.refresh(true);
    expect(installed.workspace(id)).toBeUndefined();
  });

  test("find a workspace that was just installed, and an organisation's workspace when they first meet it", async () => {
    const { installed, use } = await process();
    await install();
    expect(await installed.find({ workspace: id })).toMatchObject({ id });
    expect(await installed.find({ workspace: 'T900' })).toBeUndefined();
    await installOrganisation('E1');
    expect(await installed.find({ workspace: 'T900' })).toBeUndefined();
    expect(await installed.find({ workspace: 'T900', organisation: 'E1' })).toMatchObject({ id: 'T900' });
    expect(use('T900')?.installation).toMatchObject({ token: 'xoxb-all', botUser: 'U2', workspace: 'T900' });
    await store.installations.revokeAccess('E1', ['T900']);
    await installed.refresh();
    expect(installed.workspace('T900')).toBeUndefined();
  });

  test('accept no workspace for an organisation whose token does not reach it, even one with its own installation', async () => {
    const [asked, reached]: [string[], Set<string>] = [[], new Set(['T903'])];
    const workspacesOf = async (token: string) => {
      asked.push(token);
      return reached;
    };
    const { installed } = await process(keyring, { workspacesOf });
    await installOrganisation('E3');
    const of = (workspace: string) => installed.find({ workspace, organisation: 'E3' });
    // The other organisation's in a channel that both share: unknown, and with an installation of its own.
    expect(await of('T999')).toBeUndefined();
    expect(await of(id)).toBeUndefined();
    expect(await of('T903')).toMatchObject({ id: 'T903' });
    expect(await of('T903')).toMatchObject({ id: 'T903' });
    expect(asked).toEqual(['xoxb-all']);
    const rows = await kysely
      .selectFrom('workspaces')
      .select('workspace')
      .where('installation_id', '=', 'E3')
      .execute();
    expect(rows).toEqual([{ workspace: 'T903' }]);
    expect(await installed.find({ workspace: id })).toMatchObject({ id });
  });

  test('accept no workspace while Slack cannot be asked, so that the event is resent', async () => {
    const away = new SlackRateLimitError({ method: 'auth.teams.list', slackCode: 'ratelimited' }, 1_000);
    const { installed } = await process(keyring, { workspacesOf: () => Promise.reject(away) });
    await installOrganisation('E4');
    await expect(installed.find({ workspace: 'T904', organisation: 'E4' })).rejects.toBe(away);
    await leaveOrganisation('E4');
    expect(await installed.find({ workspace: 'T904', organisation: 'E4' })).toBeUndefined();
  });

  test('do not serve an unused workspace for what Slack listed before its organisation removed the app', async () => {
    let listed = new Set(['T911', 'T912']);
    const { installed } = await process(keyring, { workspacesOf: async () => listed });
    await installOrganisation('E11');
    const of = (workspace: string) => installed.find({ workspace, organisation: 'E11' });
    expect(await of('T911')).toMatchObject({ id: 'T911' });
    expect(await of('T999')).toBeUndefined();
    listed = new Set(['T911']);
    await acceptUninstallEvent(
      store,
      { kind: 'access_revoked', workspace: undefined, organisation: 'E11', at: new Date(), from: ['T912'] },
      installed,
    );
    expect(await of('T912')).toBeUndefined();
  });

  test('serve no workspace that its organisation removed while Slack was still asked', async () => {
    const asked = Promise.withResolvers<void>();
    const list = Promise.withResolvers<ReadonlySet<string>>();
    const lists = [list.promise];
    const workspacesOf = async () => {
      asked.resolve();
      return (await lists.shift()) ?? new Set<string>();
    };
    const { installed } = await process(keyring, { workspacesOf });
    await installOrganisation('E13');
    const found = installed.find({ workspace: 'T914', organisation: 'E13' });
    await asked.promise;
    await store.installations.revokeAccess('E13', ['T914']);
    list.resolve(new Set(['T914']));
    expect(await found).toBeUndefined();
    expect(installed.workspace('T914')).toBeUndefined();
  });

  test('give a workspace back though this process has not seen yet that another one dropped it', async () => {
    const [one, other] = [await process(), await process()];
    await installOrganisation('E12');
    expect(await one.installed.find({ workspace: 'T913', organisation: 'E12' })).toMatchObject({
      id: 'T913',
    });
    await other.installed.refresh();
    const event = { workspace: undefined, organisation: 'E12', at: new Date() };
    await acceptUninstallEvent(store, { ...event, kind: 'access_revoked', from: ['T913'] }, one.installed);
    await acceptUninstallEvent(store, { ...event, kind: 'access_granted', to: ['T913'] }, other.installed);
    await one.installed.refresh();
    expect([one, other].map(({ installed }) => installed.workspace('T913'))).toMatchObject([
      { id: 'T913' },
      { id: 'T913' },
    ]);
  });

  test('drop a workspace from which its organisation removed the app, until Slack lists it again', async () => {
    const taken = ['T901', 'T902'];
    let listed = new Set(taken);
    const { installed } = await process(keyring, { workspacesOf: async () => listed });
    await installOrganisation('E2');
    const of = (workspace: string) => installed.find({ workspace, organisation: 'E2' });
    expect(await of('T901')).toMatchObject({ id: 'T901' });
    listed = new Set();
    await store.installations.revokeAccess('E2', taken);
    await installed.refresh();
    for (const workspace of taken) expect(await of(workspace)).toBeUndefined();
    await installOrganisation('E2');
    for (const workspace of taken) expect(await of(workspace)).toBeUndefined();
    // Nobody need say so: an event may be late or lost.
    listed = new Set(taken);
    await installOrganisation('E2');
    for (const workspace of taken) expect(await of(workspace)).toMatchObject({ id: workspace });
  });

  test.each(['', 'E2'])('accept no workspace named %j', async (workspace) => {
    const { installed } = await process();
    await installOrganisation('E2');
    expect(await installed.find({ workspace, organisation: 'E2' })).toBeUndefined();
    const rows = await kysely.selectFrom('workspaces').select('workspace').execute();
    expect(rows.map((row) => row.workspace)).not.toContain(workspace);
  });

  test('decrypt only what has changed, also when they look for workspaces that were erased', async () => {
    const { installed } = await process();
    const decrypt = vi.spyOn(keyring, 'decrypt');
    await installed.refresh(true);
    expect(decrypt).not.toHaveBeenCalled();
    await install('xoxb-other');
    await installed.refresh(true);
    expect(decrypt).toHaveBeenCalledTimes(1);
    decrypt.mockRestore();
  });

  test.each([
    ['are no JSON', 'xoxb-text'],
    ['lack the token', '{"bot":{}}'],
  ])(
    'leave out only a workspace whose tokens %s, at the start and later, and name it once',
    async (_what, text) => {
      const [odd, rest] = [id, ['T8001', 'T8002']];
      const context = encryptionContext.installation(odd);
      const spoil = () =>
        sql`update installations set encrypted_tokens = ${keyring.encrypt(text, context)},
        change_seq = nextval('installation_change_seq') where workspace = ${odd}`.execute(kysely);
      // Its row comes before those of others.
      await spoil();
      for (const workspace of rest) {
        id = workspace;
        await install();
      }
      const log = pino({ enabled: false });
      const errors = vi.spyOn(log, 'error');
      const { installed } = await process(keyring, { log });
      expect(installed.ids()).toEqual(expect.arrayContaining(rest));
      expect(installed.ids()).not.toContain(odd);
      await spoil();
      await install('xoxb-other');
      await installed.refresh();
      expect(installed.workspace(id)).toBeDefined();
      expect(errors.mock.calls.map(([fields]) => fields)).toEqual([
        { workspace: odd, err: expect.any(DecryptionError) },
      ]);
      id = odd;
      await install('xoxb-mended');
      expect(await installed.find({ workspace: odd })).toMatchObject({ id: odd });
    },
  );

  test('skip a workspace whose tokens were encrypted with a missing key', async () => {
    const { installed } = await process(new Keyring(['x'.repeat(32)]));
    expect(installed.ids()).toEqual([]);
  });
});

describe('expiring tokens', () => {
  test('are renewed once, by one of several processes, before they expire', async () => {
    await install('xoxb-short', new Date(Date.now() + hour));
    const asked: string[] = [];
    const expiresAt = new Date(Date.now() + 12 * hour);
    const rotations = [1, 2, 3, 4].map((n) =>
      rotationWith(async (refreshToken) => {
        asked.push(refreshToken);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { token: `xoxb-by-${n}`, refreshToken: 'next', expiresAt };
      }),
    );
    await Promise.all(rotations.map((rotation) => rotation.renewDue()));
    for (const rotation of rotations) await rotation.renewDue();
    expect(asked).toEqual(['refresh-xoxb-short']);
    const row = await store.installations.get(id);
    const { bot } = decryptTokens(keyring, id, row?.encrypted_tokens ?? '');
    expect(bot).toMatchObject({ token: expect.stringMatching(/^xoxb-by-\d$/), refreshToken: 'next' });
  });

  test.each([
    ['the keys are changed', async () => reseal(), 'xoxb-renewed'],
    ['the app is reinstalled', async () => install('xoxb-anew'), 'xoxb-anew'],
    ['the app is uninstalled', async () => leave(), undefined],
  ])('neither block nor get lost when %s while Slack renews them', async (_what, change, left) => {
    await install('xoxb-short', new Date(Date.now() + hour));
    const expiresAt = new Date(Date.now() + 12 * hour);
    const renew = async () => {
      await change();
      return { token: 'xoxb-renewed', refreshToken: 'next', expiresAt };
    };
    await rotationWith(renew).renewDue();
    const row = await store.installations.get(id);
    expect(
      row?.encrypted_tokens == null ? undefined : decryptTokens(keyring, id, row.encrypted_tokens).bot.token,
    ).toBe(left);
  });

  test('stay unchanged where Slack refuses, and are retried', async () => {
    await install('xoxb-short', new Date(Date.now() + hour));
    let tries = 0;
    const renew = async () => {
      tries += 1;
      if (tries === 1) throw new Error('invalid_refresh_token');
      return { token: 'xoxb-second', refreshToken: 'next', expiresAt: new Date(Date.now() + 12 * hour) };
    };
    const rotation = rotationWith(renew);
    await rotation.renewDue();
    expect(await tokenOf(id)).toBe('xoxb-short');
    await rotation.renewDue();
    expect(tries).toBe(1);
    await letMinutesPass(2);
    await rotation.renewDue();
    expect(await tokenOf(id)).toBe('xoxb-second');
  });
});

test('tokens that cannot be renewed are retried less and less often, so that others are renewed', async () => {
  await install('xoxb-dead', new Date(Date.now() - 48 * hour));
  let tries = 0;
  const rotation = rotationWith(async () => {
    tries += 1;
    throw new Error('invalid_refresh_token');
  });
  for (const pause of [2, 2, 4, 8, 16, 32, 60, 60]) {
    const before = tries;
    await rotation.renewDue();
    await letMinutesPass(pause - 1);
    await rotation.renewDue();
    expect(tries).toBe(before + 1);
    await letMinutesPass(1.1);
  }
});

test('the start does not wait for Slack, and the stop only for renewals in progress', async () => {
  for (const n of [1, 2, 3, 4, 5]) {
    id = `T50${n}`;
    await install(`xoxb-${id}`, new Date(Date.now() + hour));
  }
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  const rotation = rotationWith(async () => {
    asked += 1;
    await answer.promise;
    return { token: 'xoxb-late', refreshToken: 'next', expiresAt: new Date(Date.now() + 12 * hour) };
  });
  rotation.start();
  await expect.poll(() => asked).toBeGreaterThanOrEqual(5);
  const stopped = rotation.stop();
  answer.resolve();
  await stopped;
  for (const n of [1, 2, 3, 4, 5]) expect(await tokenOf(`T50${n}`)).toBe('xoxb-late');
});

describe('a token that is renewed', () => {
  test('is not asked for while the database is away', async () => {
    await install('xoxb-short', new Date(Date.now() + hour));
    let asked = 0;
    const rotation = rotationWith(async () => {
      asked += 1;
      return { token: 'xoxb-renewed', refreshToken: 'next', expiresAt: new Date(Date.now() + 12 * hour) };
    });
    vi.spyOn(store.installations, 'claimRenewal').mockRejectedValueOnce(away);
    await expect(rotation.renewDue()).rejects.toBe(away);
    expect(asked).toBe(0);
    await rotation.renewDue();
    expect(await tokenOf(id)).toBe('xoxb-renewed');
  });

  test.each([
    [
      'the database refuses connections',
      (name: string) => `alter database ${name} allow_connections false`,
      (name: string) => `alter database ${name} allow_connections true`,
    ],
    [
      'a statement fails',
      () => 'alter table installations rename to installations_away',
      () => 'alter table installations_away rename to installations',
    ],
  ])('is kept until it is saved, though %s meanwhile', async (_what, begin, end) => {
    await install('xoxb-short', new Date(Date.now() + hour));
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(kysely);
    const name = rows[0]?.name ?? '';
    const inside = new pg.Client({ ...inject('databaseServer'), database: name });
    const outside = new pg.Client(inject('administration'));
    inside.on('error', () => undefined);
    await Promise.all([inside.connect(), outside.connect()]);
    const run = async (statement: string) =>
      void (await (statement.startsWith('alter table') ? inside : outside).query(statement));
    const renew = async () => {
      await run(begin(name));
      if (begin(name).startsWith('alter database'))
        await outside.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        );
      setTimeout(() => void run(end(name)), 700);
      return { token: 'xoxb-renewed', refreshToken: 'next', expiresAt: new Date(Date.now() + 12 * hour) };
    };
    try {
      // The search for more may fail meanwhile.
      await rotationWith(renew)
        .renewDue()
        .catch(() => undefined);
      expect(await tokenOf(id)).toBe('xoxb-renewed');
    } finally {
      await Promise.allSettled([inside.end(), outside.end()]);
    }
  });

  test('is renewed by another process once the one that renews it was killed', {
    timeout: 60_000,
  }, async () => {
    await install('xoxb-short', new Date(Date.now() + hour));
    const program = compiledProgram('test/support/renewing-process.ts');
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(kysely);
    const url = connectionUrl({ ...inject('databaseServer'), database: rows[0]?.name ?? '' });
    const env = { ...globalThis.process.env, ...compileCache() };
    const other = spawn(globalThis.process.execPath, [program, url], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      expect(String((await once(other.stdout, 'data'))[0])).toBe('refresh-xoxb-short\n');
      const asked: string[] = [];
      const rotation = rotationWith(async (refreshToken) => {
        asked.push(refreshToken);
        return { token: 'xoxb-renewed', refreshToken: 'next', expiresAt: new Date(Date.now() + 12 * hour) };
      });
      await rotation.renewDue();
      expect(asked).toEqual([]);
      other.kill('SIGKILL');
      await expect
        .poll(async () => rotation.renewDue().then(() => tokenOf(id)), { timeout: 30_000 })
        .toBe('xoxb-renewed');
      expect(asked).toEqual(['refresh-xoxb-short']);
    } finally {
      other.kill('SIGKILL');
    }
  });
});

describe('an uninstall event', () => {
  /** Hands an event in, and runs the jobs that are due then, until so many have ended or wait. */
  function eventsWhere(isValid: (token: string) => boolean | Error) {
    const deps = {
      store,
      keyring,
      slack: slackTokens({
        isValid: async (token) => {
          const answer = isValid(token);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      }),
      log: silentLog,
    };
    const onChanged = async () => undefined;
    const jobs = uninstallationJobs(deps, onChanged);
    const run = async () => {
      const room = { kind: JOB_KIND.uninstallation, room: 10, share: 10 };
      for (const job of await store.jobs.claim([room], [], 30_000)) {
        const outcome = await jobs.perform(job, { signal: new AbortController().signal } as RenewableLease);
        if (typeof outcome === 'string') await store.jobs.done(job, false);
        else await store.jobs.again(job, outcome);
      }
    };
    const handle = async (event: UninstallEvent) => {
      const workspaces = { find: async () => undefined, refresh: onChanged };
      await acceptUninstallEvent(store, event, workspaces);
      await run();
    };
    const runIn = async (minutes: number) => {
      await sql`update jobs set due_at = due_at - make_interval(mins => ${minutes})`.execute(kysely);
      await run();
    };
    return { handle, runIn };
  }
  const refused = () => eventsWhere(() => false);
  const uninstalled = (at = new Date()) =>
    ({ kind: 'uninstalled', workspace: id, organisation: undefined, at }) as const;

  test('deletes the tokens, whatever event came before it', async () => {
    const { handle, runIn } = refused();
    await handle({ ...uninstalled(), kind: 'revoked' });
    await handle(uninstalled());
    await runIn(3);
    expect((await store.installations.get(id))?.encrypted_tokens).toBeNull();
  });

  test('deletes the tokens only once Slack has refused them twice in a row, minutes apart', async () => {
    const answers = [false, true, false, false];
    const { handle, runIn } = eventsWhere(() => answers.shift() ?? false);
    await handle(uninstalled());
    await runIn(1);
    expect(answers).toHaveLength(3);
    await runIn(2);
    expect(answers).toHaveLength(2);
    await handle(uninstalled());
    expect(await tokenOf(id)).toBe(`xoxb-${id}`);
    await runIn(3);
    expect((await store.installations.get(id))?.encrypted_tokens).toBeNull();
  });

  test("ends the organisation's installation where the workspace's own had ended", async () => {
    await leave();
    await installOrganisation('E8');
    const { handle, runIn } = refused();
    await handle({ ...uninstalled(), organisation: 'E8' });
    await runIn(3);
    expect((await store.installations.get('E8'))?.encrypted_tokens).toBeNull();
  });

  test('is trusted without asking Slack when it comes long after the installation', async () => {
    const { handle } = eventsWhere(() => new Error('Slack is away'));
    await handle(uninstalled(new Date(Date.now() + hour)));
    expect((await store.installations.get(id))?.encrypted_tokens).toBeNull();
  });

  test('leaves a later installation alone', async () => {
    const { handle, runIn } = eventsWhere(() => true);
    await handle(uninstalled());
    await runIn(3);
    expect(await tokenOf(id)).toBe(`xoxb-${id}`);
  });

  test('leaves an installation alone that arrives while Slack is asked', async () => {
    const asked: string[] = [];
    const { handle, runIn } = eventsWhere((token) => {
      asked.push(token);
      return token === 'xoxb-anew';
    });
    await handle(uninstalled());
    const markUninstalled = vi.spyOn(store.installations, 'markUninstalled');
    markUninstalled.mockImplementationOnce(async (...last) => {
      await install('xoxb-anew');
      return store.installations.markUninstalled(...last);
    });
    await runIn(3);
    await runIn(0);
    expect(asked).toEqual([`xoxb-${id}`, `xoxb-${id}`, 'xoxb-anew']);
    expect(await tokenOf(id)).toBe('xoxb-anew');
  });

  test('is kept where Slack cannot be asked', async () => {
    const { handle } = eventsWhere(() => new Error('Slack is away'));
    await expect(handle(uninstalled())).rejects.toThrow('away');
    expect(await tokenOf(id)).toBe(`xoxb-${id}`);
    const place = { workspace: id, channel: '', thread_ts: CHANNEL_LEVEL, key: '' };
    expect(await store.jobs.get({ ...place, kind: JOB_KIND.uninstallation })).toBeDefined();
  });

  test('leaves nothing of the workspace after the retention period', async () => {
    await leave();
    await sweep();
    expect(await store.installations.get(id)).toBeDefined();
    await letDaysPass();
    await sweep();
    expect(await store.installations.get(id)).toBeUndefined();
  });
});

describe('a workspace that moved before the retention period of its former installation ended', () => {
  const swept = async () => {
    await sweep();
    const there = kysely.selectFrom('workspaces').select('workspace').where('workspace', '=', id);
    return { workspaces: (await there.execute()).length, installation: await store.installations.get(id) };
  };

  test('keeps its rows after it moved to its organisation', async () => {
    await leave();
    await letDaysPass();
    await installOrganisation('E7');
    await store.installations.attachWorkspace(id, 'E7');
    expect(await swept()).toEqual({ workspaces: 1, installation: undefined });
  });

  test('keeps its rows after it moved to the token in the settings', async () => {
    await leave();
    await letDaysPass();
    await store.workspaces.put({ workspace: id, name: 'One', bot_user_id: 'U1', bot_id: 'B1' });
    expect(await swept()).toEqual({ workspaces: 1, installation: undefined });
  });
});

/** Deletes all that is due: one call deletes of one workspace. */
async function sweep(): Promise<void> {
  const keep = { words: 7, rows: 90, audit: 365, uninstalled: 30 };
  while ((await store.retention.deleteExpired(keep)) > 0);
}

async function letDaysPass(): Promise<void> {
  const left_at = new Date(Date.now() - 31 * 24 * hour);
  for (const table of ['installations', 'workspaces'] as const)
    await kysely.updateTable(table).set({ uninstalled_at: left_at }).where('workspace', '=', id).execute();
}

/** Lets so many minutes pass since the renewal of the token was last tried. */
async function letMinutesPass(minutes: number): Promise<void> {
  const earlier = (column: string) => sql<Date>`${sql.ref(column)} - make_interval(secs => ${minutes * 60})`;
  const past = {
    renewal_tried_since: earlier('renewal_tried_since'),
    renewal_due_at: earlier('renewal_due_at'),
  };
  await kysely.updateTable('installations').set(past).where('workspace', '=', id).execute();
}

function rotationWith(renew: SlackTokens['renew']): TokenRotation {
  const deps = { store, keyring, slack: slackTokens({ renew }), log: silentLog };
  return new TokenRotation(deps, async () => undefined);
}

async function reseal(): Promise<void> {
  const encrypted = (await store.installations.get(id))?.encrypted_tokens ?? '';
  const again = encryptTokens(keyring, id, decryptTokens(keyring, id, encrypted));
  const row = { kind: 'installation', workspace: id, key: '', encrypted } as const;
  expect(await store.encryptedTexts.replace(row, again)).toBe(true);
}

async function tokenOf(workspace: string): Promise<string> {
  const row = await store.installations.get(workspace);
  return decryptTokens(keyring, workspace, row?.encrypted_tokens ?? '').bot.token;
}
