import { stringify } from 'yaml';
import { parseOptions, runCommand, UsageError } from '../src/operate/command-runner.ts';
import { createAppLink, manifestVariant, publicUrlProblem } from './manifest-file.ts';

const USAGE = 'npm run manifest -- [--public-url https://bot.example.org [--oauth]] [--workflow-step]';
const HELP = `Prints the app's manifest, and a link that creates the app with it.

Usage: ${USAGE}

  --public-url   events arrive by HTTP at this address; without it, by Socket Mode
  --oauth        many workspaces install the app at that address
  --workflow-step  Workflow Builder offers the step "Ask the agent"`;

function printManifest(args: string[]): number {
  const options = {
    'public-url': { type: 'string' },
    oauth: { type: 'boolean', default: false },
    'workflow-step': { type: 'boolean', default: false },
  } as const;
  const {
    'public-url': publicUrl,
    oauth,
    'workflow-step': workflowStep,
  } = parseOptions(USAGE, args, options);
  const problem = publicUrl === undefined ? undefined : publicUrlProblem(publicUrl);
  if (problem !== undefined) throw new UsageError(USAGE, `--public-url ${publicUrl}: ${problem}`);
  if (oauth && publicUrl === undefined) throw new UsageError(USAGE, '--oauth needs --public-url.');
  const manifest = manifestVariant({ publicUrl, oauth, workflowStep });
  console.log(`# Create the app with this link:\n# ${createAppLink(manifest)}\n`);
  console.log(stringify(manifest, { lineWidth: 110 }).trimEnd());
  return 0;
}

await runCommand(HELP, async () => printManifest(process.argv.slice(2)));
