import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

// `npm test`: the checks run beside the tests, whose waits leave room for them.
const cwd = fileURLToPath(new URL('../../', import.meta.url));
const checks = spawn('npm', ['run', 'check'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
const tests = spawn(process.execPath, ['node_modules/.bin/vitest', 'run', ...process.argv.slice(2)], {
  cwd,
  stdio: 'inherit',
});

const hasPassed = async (child: ChildProcess) => (await once(child, 'exit'))[0] === 0;

/** What the checks say comes in one piece, as soon as they have ended. */
async function havePassed(): Promise<boolean> {
  const said = [checks.stdout, checks.stderr].map(text);
  const [passed, ...words] = await Promise.all([hasPassed(checks), ...said]);
  console.log(words.join(''));
  return passed;
}

const [checked, tested] = await Promise.all([havePassed(), hasPassed(tests)]);
if (!checked) console.error('The checks have failed: see what they said above.');
process.exitCode = checked && tested ? 0 : 1;
