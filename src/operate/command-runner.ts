import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { describeErrors, UsageError } from './error-messages.ts';

const EXIT_CODES = 'Exit code: 0 if all went well, 1 if something failed, 2 if the command line is wrong.';

/**
 * How an operator's command is called here: by npm in a clone, by its file in the image. Where the command prints data,
 * npm must add no lines of its own (`isSilent`).
 */
export function commandLine(command: string, options = '', isSilent = false): string {
  const inClone = `npm run ${isSilent ? '-s ' : ''}${command}${options === '' ? '' : ` -- ${options}`}`;
  return import.meta.filename.endsWith('.ts')
    ? inClone
    : `node dist/operate/${command}.js ${options}`.trimEnd();
}

/** Runs an operator's command and exits; a failure prints its message. `--help` only prints the help. */
export async function runCommand(help: string, work: () => Promise<number>): Promise<never> {
  exitIfHelpIsAsked(`${help}\n\n${EXIT_CODES}`);
  try {
    process.exit(await work());
  } catch (error) {
    for (const message of describeErrors(error, 'The command failed')) console.error(message);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** Prints the help and exits if the command line asks for it. */
export function exitIfHelpIsAsked(help: string): void {
  if (!process.argv.includes('--help')) return;
  console.log(help);
  process.exit(0);
}

/** Reads the options of a command line. Throws UsageError. */
export function parseOptions<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(usage, error instanceof Error ? error.message : String(error));
  }
}
