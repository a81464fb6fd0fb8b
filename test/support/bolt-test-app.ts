import type { App } from '@slack/bolt';
import { z } from 'zod';
import type { SlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { everyInput } from './every-block.ts';
import { socketApp } from './slack-workspace-fixture.ts';

const answerShape = z.looseObject({ ok: z.boolean(), ts: z.string().default('') });

/** Calls the Web API with the bot's token. @throws where Slack refuses */
export async function call(slack: SlackWorkspace, method: string, args: object): Promise<{ ts: string }> {
  const response = await fetch(`${slack.apiUrl}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  });
  const answer = answerShape.parse(await response.json());
  if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(answer)}`);
  return answer;
}

/** What the app's manifest would offer. */
export const testCommands = {
  commands: [{ id: '/agent', name: '/agent', description: 'Manage tasks', hint: 'status | help' }],
  shortcuts: [{ id: 'start', name: 'Ask the agent', description: '', hint: '' }],
  messageShortcuts: [{ id: 'about', name: 'Ask the agent about this', description: '', hint: '' }],
};

/** A small app that opens, draws anew, refuses and takes modals, and hears every press. */
export async function startTestApp(slack: SlackWorkspace): Promise<{ app: App; heard: unknown[] }> {
  const { app } = socketApp(slack);
  const heard: unknown[] = [];
  app.shortcut(/.*/, async ({ ack, body }) => {
    await ack();
    heard.push(body);
    await call(slack, 'views.open', { trigger_id: body.trigger_id, view: everyInput });
  });
  app.command('/agent', async ({ ack, command }) => {
    heard.push(command);
    await ack(`You typed: ${command.text}`);
  });
  app.action(/.*/, async ({ ack, body, action }) => {
    await ack();
    heard.push(action);
    if (!('view' in body) || body.view?.type !== 'modal') return;
    const added = { type: 'section', text: { type: 'mrkdwn', text: '*Drawn* anew' } };
    const view = { ...everyInput, blocks: [...everyInput.blocks, added] };
    await call(slack, 'views.update', { view_id: body.view.id, view });
  });
  app.view('start', async ({ ack, view }) => {
    heard.push(view);
    const asked = view.state.values.question?.text?.value;
    if (asked === 'no')
      await ack({ response_action: 'errors', errors: { question: 'Please ask something.' } });
    else await ack();
  });
  app.event('agent_session_stopped', async ({ event }) => {
    heard.push(event);
  });
  await app.start();
  return { app, heard };
}
