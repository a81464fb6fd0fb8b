// Runs a file of this repository with a Node that can:
// `node setup/launcher.mjs [--settings-file=.env] [Node's options] <file> [arguments]`.
// npm's scripts and the systemd unit start here. It is plain JavaScript that any Node from 18 on reads.
import { spawn } from 'node:child_process';
import { constants as access, accessSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

// Node 24.0 to 24.4 skip `await using` where a closure in a later `for...of` captures the variable.
const OLDEST = '24.5';
const { platform, arch, version, execPath, env } = process;
// Node's own --env-file-if-exists prints a line where the file is not there.
const SETTINGS_FILE = '--settings-file=';
const args = process.argv.slice(2).flatMap((arg) => {
  if (!arg.startsWith(SETTINGS_FILE)) return [arg];
  const file = arg.slice(SETTINGS_FILE.length);
  try {
    accessSync(file, access.R_OK);
    return [`--env-file=${file}`];
  } catch ({ code }) {
    if (code !== 'ENOENT')
      refuse(`This user cannot read ${file} (${code}): run this as its owner, or as root.`);
    return [];
  }
});

const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
if (platform === 'win32') {
  refuse('Taskthread runs on Linux and macOS: on Windows, run it in WSL2.');
} else if (major > 24 || (major === 24 && minor >= 5)) {
  // The same process goes on.
  process.execve(execPath, [execPath, ...args]);
} else {
  startChild(packagedNode());
}

/** The Node among the dependencies. Not its link in node_modules/.bin, which npm before 11.6 leaves out. */
function packagedNode() {
  const hasPackage = platform === 'linux' && (arch === 'x64' || arch === 'arm64');
  if (!hasPackage) refuseNode('install it.');
  try {
    const found = createRequire(import.meta.url).resolve(`node-linux-${arch}/package.json`);
    return join(dirname(found), 'bin', 'node');
  } catch {
    return refuseNode('install it, or run npm ci with optional packages, which brings one.');
  }
}

/** Starts Node as a child, which gets each signal; exits as the child does. */
function startChild(node) {
  const PATH = [dirname(node), env.PATH].filter(Boolean).join(delimiter);
  const child = spawn(node, args, { stdio: 'inherit', env: { ...env, PATH } });
  // After Ctrl+C in a terminal the child gets the signal more than once, as it does from npm.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', ({ code }) =>
    refuseNode(`install it, because the Node 24 that npm ci brings cannot run here (${code}).`),
  );
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.exitCode = 128 + constants.signals[signal];
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function refuseNode(advice) {
  refuse(`Taskthread needs Node ${OLDEST} or newer, and this is ${version.slice(1)}: ${advice}`);
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}
