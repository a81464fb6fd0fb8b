import { runCommand } from '../src/operate/command-runner.ts';

await runCommand(
  'Usage: npm run demo\n\nPlays a conversation with a Slack workspace, an agent service and the app on this machine. The app is killed in the middle of an answer.',
  async () => {
    const { playDemo } = await import('./demo-story.ts');
    return playDemo();
  },
);
