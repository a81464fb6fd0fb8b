import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const exec = promisify(execFile);

/** The same restrictions as in compose.yaml and deploy/kubernetes.yaml. No --init: node is the first process. */
const RESTRICTIONS = [
  '--read-only',
  '--tmpfs=/tmp',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges:true',
  // The sandbox listens on 127.0.0.1.
  '--network=host',
];

/** The command line of a container engine, such as docker or podman. */
export class ContainerEngine {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /** Whether the engine answers within ten seconds. */
  async answers(): Promise<boolean> {
    return exec(this.#program, ['info'], { timeout: 10_000 }).then(
      () => true,
      () => false,
    );
  }

  /** Builds an image from a folder's Dockerfile. */
  async build(folder: string, image: string): Promise<void> {
    await this.call(['build', '--tag', image, folder]);
  }

  /** Runs a command in a container of its own, until it ends; resolves to what it says. */
  async run(image: string, ...command: string[]): Promise<string> {
    return this.call(['run', '--rm', ...RESTRICTIONS, image, ...command]);
  }

  /** Starts the image's own command with these settings. */
  async start(image: string, settings: Readonly<Record<string, string>>) {
    // By name: a value on the command line would show in the list of processes.
    const names = Object.keys(settings).flatMap((name) => ['--env', name]);
    const id = await this.call(['run', '--detach', ...RESTRICTIONS, ...names, image], settings);
    return {
      terminate: () => this.call(['kill', '--signal=SIGTERM', id.trim()]),
      /** Resolves to the exit code when it has ended. */
      ended: async () => Number(await this.call(['wait', id.trim()])),
      /** Removes it, whether it runs or not. */
      remove: async () => void (await this.call(['rm', '--force', id.trim()])),
    };
  }

  /** Throws what the engine says if it fails. */
  async call(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const env = { ...process.env, ...environment };
    return (await exec(this.#program, args, { env, maxBuffer: 2 ** 26 })).stdout;
  }
}

/** A container that runs, or has ended. */
export type Container = Awaited<ReturnType<ContainerEngine['start']>>;
