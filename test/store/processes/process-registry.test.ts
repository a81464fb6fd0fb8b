import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  identityOf,
  isSurelyDead,
  type ProcessIdentity,
} from '../../../src/store/processes/process-registry.ts';

/** A process that does nothing, and its identity. */
function start(command: string, ...args: string[]): { child: ChildProcess; identity: ProcessIdentity } {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const identity = identityOf(child.pid ?? 0);
  if (identity === undefined) throw new Error('The system does not tell.');
  return { child, identity };
}

describe.skipIf(process.platform !== 'linux')('a process', () => {
  test('that works or is frozen is not dead', () => {
    const { child, identity } = start('sleep', '60');
    expect(isSurelyDead(identity)).toBe(false);
    child.kill('SIGSTOP');
    expect(isSurelyDead(identity)).toBe(false);
  });

  test('that was killed is dead', async () => {
    const { child, identity } = start('sleep', '60');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isSurelyDead(identity)).toBe(true);
  });

  test('that was killed is dead although its parent has not asked for its end', async () => {
    // The shell becomes a program that asks for nothing.
    const { child } = start('sh', '-c', 'sleep 60 & echo $!; exec sleep 60');
    const [said] = await once(child.stdout ?? child, 'data');
    const identity = identityOf(Number(String(said)));
    if (identity === undefined) throw new Error('The child has no identity.');
    // Until then, the shell would ask for it.
    await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('sleep\n'));
    process.kill(identity.pid, 'SIGKILL');
    await vi.waitFor(() => expect(isSurelyDead(identity)).toBe(true));
    // It is still there, as a zombie.
    expect(process.kill(identity.pid, 0)).toBe(true);
  });

  test('whose id another process has is dead', () => {
    const { identity } = start('sleep', '60');
    expect(isSurelyDead({ ...identity, started: `${Number(identity.started) - 1}` })).toBe(true);
  });

  test('of another host, boot or PID namespace may live', async () => {
    const { child, identity } = start('sleep', '60');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isSurelyDead({ ...identity, host: `${identity.host}0` })).toBe(false);
  });
});
