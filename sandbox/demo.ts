import { parseOptions, runCommand } from '../src/operate/command-runner.ts';

const USAGE = 'npm run demo [-- --tls] [--json]';

await runCommand(
  `Usage: ${USAGE}

Plays a conversation with a Slack workspace, an agent service and the app on this machine. The app is killed in the middle of an answer.

  --tls    all of it goes over TLS, and both services offer HTTP/2
  --json   prints the figures again, as a last line of JSON`,
  async () => {
    const options = {
      json: { type: 'boolean', default: false },
      tls: { type: 'boolean', default: false },
    } as const;
    const { json, tls } = parseOptions(USAGE, process.argv.slice(2), options);
    const { playDemo } = await import('./demo-story.ts');
    return playDemo({ json, tls });
  },
);
