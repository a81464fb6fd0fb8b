import { runCommand } from '../src/operate/command-runner.ts';

const USAGE = 'npm run connect [-- --from answers.yaml]';
const HELP = `Sets Taskthread up, from nothing to a running bot, in this folder. It asks for a Slack app, the agent service and a
database, tries each answer at once, and writes them to .env. Run it again to change answers; Enter keeps what is there.

Usage: ${USAGE}

  --from   takes the answers from a YAML file and asks nothing; setup/answers.example.yaml explains them

A missing or wrong answer in the file counts as a wrong command line. Ctrl+C before the bot runs exits with 130.`;

await runCommand(HELP, async () => {
  const { connect } = await import('./connect/interview.ts');
  return connect(USAGE, process.argv.slice(2));
});
