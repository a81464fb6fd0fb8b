import type { BlockAction } from '@slack/bolt';
import { describe, expect, test } from 'vitest';
import {
  refusal,
  running,
  SteppedClock,
  socketApp,
  until,
  workspaceWithBot,
} from '../../support/slack-workspace-fixture.ts';

const button = (action_id: string, value?: string) => ({
  type: 'button' as const,
  action_id,
  text: { type: 'plain_text' as const, text: action_id },
  ...(value === undefined ? {} : { value }),
});
const buttons = [{ type: 'actions' as const, elements: [button('stop', 'turn-1'), button('open')] }];
const title = { type: 'plain_text' as const, text: 'Feedback' };
const modal = {
  type: 'modal' as const,
  callback_id: 'feedback',
  title,
  submit: title,
  private_metadata: 'turn-1',
  blocks: [
    {
      type: 'input' as const,
      block_id: 'why',
      label: title,
      element: { type: 'plain_text_input' as const, action_id: 'words' },
    },
  ],
};

/** A lab with a running Bolt app and a message with buttons. */
async function pressing(options: Parameters<typeof workspaceWithBot>[0] = {}) {
  const one = await workspaceWithBot(options);
  const { app } = socketApp(one.slack);
  await running(app);
  const { ts = '' } = await one.client.chat.postMessage({
    channel: one.channel.id,
    text: 'x',
    blocks: buttons,
  });
  return { ...one, app, ts };
}

describe('buttons', () => {
  test("a click carries what Slack's does", async () => {
    const { slack, ann, channel, app, ts } = await pressing();
    const bodies: BlockAction[] = [];
    app.action<BlockAction>('stop', async ({ ack, body }) => {
      await ack();
      bodies.push(body);
    });
    const result = await slack.click({ person: ann, channel, ts, actionId: 'stop' });
    expect(result.acked).toBe(true);
    expect(bodies).toMatchObject([
      {
        type: 'block_actions',
        user: { id: ann.id, team_id: slack.team.id },
        container: { type: 'message', message_ts: ts, channel_id: channel.id },
        channel: { id: channel.id },
        message: { ts, bot_id: slack.bot.botId },
        actions: [{ type: 'button', action_id: 'stop', value: 'turn-1' }],
      },
    ]);
  });

  test('a button that is not there cannot be pressed', async () => {
    const { slack, ann, channel, ts } = await pressing();
    await expect(slack.click({ person: ann, channel, ts, actionId: 'none' })).rejects.toThrow(
      'There is no element',
    );
  });

  test('an item of a menu is chosen by its value', async () => {
    const { slack, ann, channel, app, client } = await pressing();
    const text = { type: 'plain_text' as const, text: 'Again' };
    const menu = { type: 'overflow' as const, action_id: 'menu', options: [{ text, value: 'again/1' }] };
    const blocks = [{ type: 'actions' as const, elements: [menu] }];
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x', blocks });
    const actions: unknown[] = [];
    app.action<BlockAction>('menu', async ({ ack, action }) => {
      await ack();
      actions.push(action);
    });
    const click = { person: ann, channel, ts, actionId: 'menu' };
    await slack.click({ ...click, value: 'again/1' });
    expect(actions).toMatchObject([{ type: 'overflow', selected_option: { text, value: 'again/1' } }]);
    await expect(slack.click(click)).rejects.toThrow('An item of a menu must be chosen.');
    await expect(slack.click({ ...click, value: 'other' })).rejects.toThrow('There is no element');
  });

  test('a click that nobody acknowledges is not sent again', async () => {
    const { slack, ann, channel, ts } = await pressing({ ackTimeoutMs: 30 });
    expect((await slack.click({ person: ann, channel, ts, actionId: 'stop' })).acked).toBe(false);
    expect(slack.deliveryStats.lost).toBe(1);
  });

  test('a response_url replaces and adds, five times', async () => {
    const { slack, ann, channel, app, ts } = await pressing();
    app.action('stop', async ({ ack }) => ack());
    const { responseUrl } = await slack.click({ person: ann, channel, ts, actionId: 'stop' });
    const say = async (body: object) =>
      (
        await fetch(responseUrl, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        })
      ).status;
    expect(await say({ text: 'done', replace_original: true })).toBe(200);
    expect(slack.message(channel, ts)).toMatchObject({ text: 'done', blocks: undefined });
    expect(await say({ text: 'psst' })).toBe(200);
    expect(slack.ephemerals(ann, channel)).toHaveLength(1);
    expect(await say({ nothing: true })).toBe(400);
    expect(await say({ delete_original: true })).toBe(400);
    expect(await say({ response_type: 'ephemeral', text: 'again' })).toBe(200);
    expect(await say({ text: 'too much' })).toBe(404);
  });
});

describe('modals and the Home tab', () => {
  test('a trigger opens one modal within three seconds', async () => {
    const clock = new SteppedClock();
    const { slack, ann, channel, app, ts, client } = await pressing({ clock });
    app.action('open', async ({ ack }) => ack());
    const press = async () => (await slack.click({ person: ann, channel, ts, actionId: 'open' })).triggerId;
    const trigger_id = await press();
    await client.views.open({ trigger_id, view: modal });
    expect(slack.modal(ann)?.callbackId).toBe('feedback');
    expect(await refusal(client.views.open({ trigger_id, view: modal }))).toBe('exchanged_trigger_id');
    const late = await press();
    clock.pass(3001);
    expect(await refusal(client.views.open({ trigger_id: late, view: modal }))).toBe('expired_trigger_id');
    expect(await refusal(client.views.open({ trigger_id: 'x', view: modal }))).toBe('invalid_trigger_id');
  });

  test('a modal that Slack would not take is refused', async () => {
    const { slack, ann, channel, app, ts, client } = await pressing();
    app.action('open', async ({ ack }) => ack());
    const open = async (view: object) => {
      const { triggerId } = await slack.click({ person: ann, channel, ts, actionId: 'open' });
      return refusal(client.apiCall('views.open', { trigger_id: triggerId, view }));
    };
    expect(await open({ ...modal, title: { type: 'plain_text', text: 'a'.repeat(25) } })).toBe(
      'invalid_arguments',
    );
    expect(await open({ ...modal, submit: undefined })).toBe('invalid_arguments');
    expect(await open({ ...modal, color: 'red' })).toBe('invalid_arguments');
    expect(await open({ ...modal, private_metadata: 'a'.repeat(3001) })).toBe('invalid_arguments');
    expect(await open({ ...modal, blocks: [{ type: 'markdown', text: 'x' }] })).toBe('invalid_arguments');
  });

  test('a submission brings the values; the answer keeps, changes or closes the modal', async () => {
    const { slack, ann, channel, app, ts } = await pressing();
    app.action<BlockAction>('open', async ({ ack, client, body }) => {
      await ack();
      await client.views.open({ trigger_id: body.trigger_id, view: modal });
    });
    const said: unknown[] = [];
    app.view('feedback', async ({ ack, view }) => {
      const words = view.state.values.why?.words?.value ?? '';
      said.push(words, view.private_metadata);
      if (words === 'hm') await ack({ response_action: 'errors', errors: { why: 'Say more' } });
      else if (words === 'oh') await ack({ response_action: 'errors', errors: { what: 'Say more' } });
      else await ack();
    });
    const open = async () => {
      await slack.click({ person: ann, channel, ts, actionId: 'open' });
      await until(() => slack.modal(ann) !== undefined);
    };
    await open();
    await expect(slack.submitView(ann)).rejects.toThrow('Slack requires these inputs: Feedback.');
    await slack.submitView(ann, { words: 'hm' });
    expect(slack.modal(ann)).toBeDefined();
    expect((await slack.submitView(ann, { words: 'oh' })).acked).toBe(false);
    await slack.submitView(ann, { words: 'good' });
    expect(slack.modal(ann)).toBeUndefined();
    expect(said).toEqual(['hm', 'turn-1', 'oh', 'turn-1', 'good', 'turn-1']);
    await open();
    await slack.closeView(ann);
    expect(slack.modal(ann)).toBeUndefined();
  });

  test('an input that is left alone brings its initial value, and one that is cleared brings none', async () => {
    const { slack, ann, channel, app, ts, client } = await pressing();
    app.action('open', async ({ ack }) => ack());
    const option = { text: { type: 'plain_text' as const, text: 'Fast' }, value: 'fast' };
    const elements = [
      { type: 'plain_text_input' as const, action_id: 'words', initial_value: 'Before' },
      { type: 'conversations_select' as const, action_id: 'place', initial_conversation: channel.id },
      { type: 'static_select' as const, action_id: 'speed', initial_option: option, options: [option] },
    ];
    const blocks = elements.map((element, at) => {
      return { type: 'input' as const, block_id: `in${at}`, label: title, optional: true, element };
    });
    const sent: unknown[] = [];
    app.view('feedback', async ({ ack, view }) => {
      const { in0, in1, in2 } = view.state.values;
      sent.push([in0?.words?.value, in1?.place?.selected_conversation, in2?.speed?.selected_option]);
      await ack();
    });
    for (const values of [{}, { words: [], place: [], speed: [] }, { words: '' }]) {
      const { triggerId } = await slack.click({ person: ann, channel, ts, actionId: 'open' });
      await client.views.open({ trigger_id: triggerId, view: { ...modal, blocks } });
      await slack.submitView(ann, values);
    }
    expect(sent).toEqual([
      ['Before', channel.id, expect.objectContaining({ value: 'fast' })],
      [null, null, null],
      [null, channel.id, expect.objectContaining({ value: 'fast' })],
    ]);
  });

  test('a view is updated only with the hash that is current', async () => {
    const { slack, ann, client } = await pressing();
    const home = (text: string) => ({
      type: 'home' as const,
      blocks: [{ type: 'header' as const, text: { type: 'plain_text' as const, text } }],
    });
    const { view } = await client.views.publish({ user_id: ann.id, view: home('one') });
    const update = (hash: string) =>
      client.views.update({ view_id: view?.id ?? '', hash, view: home('two') });
    expect(await refusal(update('old'))).toBe('hash_conflict');
    await update(view?.hash ?? '');
    expect(slack.visibleText({ text: '', blocks: slack.home(ann)?.blocks })).toBe('two');
    expect(await refusal(client.views.update({ view_id: 'V0', view: home('x') }))).toBe('not_found');
  });

  test('opening the Home tab is an event, and its buttons can be pressed', async () => {
    const { slack, ann, app } = await pressing();
    app.event('app_home_opened', async ({ event, client }) => {
      await client.views.publish({ user_id: event.user, view: { type: 'home', blocks: buttons } });
    });
    const pressed: string[] = [];
    app.action('stop', async ({ ack, body }) => {
      await ack();
      pressed.push(body.type === 'block_actions' ? body.container.type : body.type);
    });
    slack.openHome(ann);
    await until(() => slack.home(ann) !== undefined);
    await slack.click({ person: ann, view: 'home', actionId: 'stop' });
    expect(pressed).toEqual(['view']);
  });
});

test('shortcuts come from anywhere and from a message', async () => {
  const { slack, ann, channel, app } = await pressing();
  const said = slack.say({ person: ann, channel, text: 'about this' });
  const heard: string[] = [];
  app.shortcut('send', async ({ ack, shortcut }) => {
    await ack();
    heard.push(shortcut.type === 'message_action' ? `message ${shortcut.message_ts}` : shortcut.type);
  });
  await slack.shortcut({ person: ann, callbackId: 'send' });
  await slack.shortcut({ person: ann, callbackId: 'send', channel, ts: said.ts });
  expect(heard).toEqual(['shortcut', `message ${said.ts}`]);
});
