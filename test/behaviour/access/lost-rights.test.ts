import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { ada, slack } = scene;
const { store } = scene.sandbox.bot;
const team = slack.team.id;

/** What somebody loses, by what it does to them. */
const LOSSES = {
  left: (person: Person, channel: Channel) => slack.kick(channel, person),
  guest: (person: Person) => Object.assign(person, { kind: 'guest' }),
  demoted: (person: Person) => Object.assign(person, { admin: false }),
  deactivated: (person: Person) => Object.assign(person, { deleted: true }),
  'of another workspace': (person: Person) => Object.assign(person, { kind: 'stranger' }),
} as const;

/** What needs no admin in a channel that only admins control: it shows, asks or rates. */
const NEEDS_NO_ADMIN =
  /^(?:feedback|send_reply|fresh_links|download_all|save_record|ask_a|steps|home_(?!settings)|task_(?!delete)|start$|\/agent (?!settings))/;

/** Who reads the thread all the same, because they are still in the channel. */
const READERS = ['guest', 'demoted', 'of another workspace'];
/** What shows only what is in the thread, or shows that beside its answer. */
const SHOWS_THREAD = /^(?:home_|task_|\/agent (?:tasks|status|stop)$)/;

/** A private channel with a finished and a running task, and somebody in it who began neither. */
async function secretOf(loss: string, admin: boolean) {
  const person = slack.createPerson({ name: loss.replaceAll(' ', '-'), admin });
  const members = [ada, person];
  const secret = slack.createChannel({ name: `secret-${person.name}`, private: true, members });
  const hall = slack.createChannel({ name: `hall-${person.name}`, members });
  const word = `quokka-${person.name}`;
  const files = [{ name: `${word}.csv`, mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
  const root = scene.ask(secret, `${word}\n/tools 2`, { files });
  const running = scene.ask(secret, `${word}-runs\n/slow 9000`);
  await scene.finished(secret, root);
  const waiting = scene.reply(secret, running, `${word} waits`);
  await scene.makeKnown(person);
  if (admin) await store.settings.set(team, secret.id, ada.id, { task_control: 'admins' });
  const idOf = (message: Message) =>
    scene.until('its turn has begun', async () => {
      const key = { workspace: team, channel: secret.id, ts: message.ts };
      return (await store.turns.ofMessage(key))?.id;
    });
  const [turn, runs] = [await idOf(root), await idOf(running)];
  const thread = { workspace: team, channel: secret.id, thread_ts: root.ts };
  const task = (await store.threads.getOrThrow(thread)).task_id ?? '';
  const [file = ''] = (await store.turns.get(team, turn))?.attached_file_ids ?? [];
  const draft = { workspace: team, id: crypto.randomUUID(), user_id: ada.id, channel: secret.id };
  const content = { text: `${word} drafted` };
  const about = { thread_ts: root.ts, message_ts: '1.000001', source_turn_id: null, source_content: content };
  await store.taskStarts.saveDraft({ ...draft, ...about });
  return { person, secret, hall, word, root, running, waiting, turn, runs, task, file, draft: draft.id };
}

type Secret = Awaited<ReturnType<typeof secretOf>>;

let times = 0;

/** A trigger that Slack gives for a command, which the bot does not use. */
async function trigger({ person, hall }: Secret): Promise<string> {
  return (await slack.command({ person, channel: hall, command: '/agent', text: 'help' })).triggerId;
}

async function deliver(at: Secret, payload: object): Promise<void> {
  const user = { id: at.person.id, team_id: team };
  const common = { team: { id: team, domain: 'x' }, user, is_enterprise_install: false };
  const body = { ...common, trigger_id: await trigger(at), ...payload };
  // Slack may deliver it a second time.
  await Promise.all([slack.deliverRaw('interactive', body), slack.deliverRaw('interactive', body)]);
}

interface Tried {
  id: string;
  payload: () => object;
}

/** Every press of every button that somebody handles: below a message of the thread, and of another channel. */
function presses(at: Secret): Tried[] {
  const { secret, hall, root, running, waiting, turn, runs, task, file } = at;
  const values: Record<string, string> = {
    ...{
      feedback: `good/${turn}`,
      stop: runs,
      stop_listed: runs,
      send_now: waiting.ts,
      send_instead: waiting.ts,
      correct: root.ts,
      send_reply: waiting.ts,
    },
    ...{
      keep_listening: root.ts,
      stop_listening: root.ts,
      steps_page: `${turn}/0`,
      steps_next_page: `${turn}/0`,
    },
    ...{ home_newer: 'channel/0', home_older: 'channel/0', home_settings: secret.id },
    ...{
      task_details: `${secret.id}/${root.ts}`,
      task_file: file,
      task_files_back: '/0',
      task_files_more: '/0',
    },
  };
  const details = {
    channel: secret.id,
    thread_ts: root.ts,
    task,
    page: 0,
    home: { page: 0, channelPage: 0 },
  };
  const home = { page: 0, channel: secret.id, channelPage: 0 };
  return Object.entries(strings.buttons).flatMap(([id, { about }]): Tried[] => {
    if (about === 'link') return [];
    times += 1;
    const action_ts = `${Math.floor(Date.now() / 1_000)}.${String(times).padStart(6, '0')}`;
    const action = { action_id: id, block_id: 'b', type: 'button', action_ts, value: values[id] ?? turn };
    const actions = [{ ...action, ...(id === 'home_channel' && { selected_conversation: secret.id }) }];
    const press = { type: 'block_actions', actions };
    if (about === 'view') {
      const metadata = JSON.stringify(id.startsWith('home_') || id === 'task_details' ? home : details);
      const payload = () => {
        const view = slack.modal(at.person) ?? slack.home(at.person);
        return { ...press, view: { id: view?.id ?? 'V1', type: 'modal', private_metadata: metadata } };
      };
      return [{ id, payload }];
    }
    const thread_ts = /^send_(?:now|instead|reply)$/.test(id) ? running.ts : root.ts;
    return [secret, hall].map((channel) => ({
      id,
      payload: () => {
        const container = { type: 'message', message_ts: thread_ts, channel_id: channel.id, thread_ts };
        return { ...press, container, channel: { id: channel.id, name: channel.name } };
      },
    }));
  });
}

/** Every form, as sent with what it would change. */
function forms({ secret, hall, turn, draft }: Secret): Tried[] {
  const form = (id: string, metadata: unknown, values: Record<string, object>) => ({
    id,
    payload: () => {
      const state = {
        values: Object.fromEntries(Object.entries(values).map(([key, one]) => [key, { [key]: one }])),
      };
      const private_metadata = typeof metadata === 'string' ? metadata : JSON.stringify(metadata);
      return {
        type: 'view_submission',
        view: { id: 'V1', type: 'modal', callback_id: id, private_metadata, state },
      };
    },
  });
  const asked = { question: { value: 'asked by form' } };
  const setting = { selected_option: { text: { type: 'plain_text', text: 'x' }, value: 'everyone' } };
  const start = { id: crypto.randomUUID(), channel: secret.id, from: secret.id };
  return [
    form('feedback_comment', turn, { comment: { value: 'a comment' } }),
    form('channel_settings', { channel: secret.id, shown: {} }, { channel_allowed_users: setting }),
    form('workspace_settings', { channel: WHOLE_WORKSPACE, shown: {} }, { workspace_allowed_users: setting }),
    form('account_form', '', {
      account_address: { value: 'https://x.example/v1' },
      account_key: { value: 'k' },
    }),
    form('start', start, asked),
    form('start', { id: draft, channel: hall.id, from: hall.id, drafted: true }, asked),
    form('start', { id: draft, channel: secret.id, from: secret.id, drafted: true }, asked),
  ];
}

/** All that the person sees, and the names of files that were sent since then. */
function shownTo({ person, secret, hall }: Secret, since = 0, withViews = true): string {
  const dm = slack.openDm(person);
  const told = [secret, hall].flatMap((channel) => slack.ephemerals(person, channel));
  const views = withViews ? [slack.modal(person)?.blocks, slack.home(person)?.blocks] : [];
  const files = slack.calls.slice(since).filter(({ method }) => method.startsWith('files.'));
  return JSON.stringify([views, told, [...dm.messages.values()], files.map(({ args }) => args)]);
}

/** All that people could have changed: here and at the service. */
async function state(): Promise<unknown> {
  const rows = async (table: string, columns: string, where = 'true') => {
    const { rows: found } = await sql<{ rows: string }>`
      select coalesce(string_agg((${sql.raw(columns)})::text, '|' order by (${sql.raw(columns)})::text), '') as rows
      from ${sql.table(table)} where ${sql.raw(where)}`.execute(store.db);
    return found[0]?.rows;
  };
  const changing = /^(?:POST|PUT|DELETE|PATCH) /;
  return {
    audit: await rows('audit_events', '(kind, user_id, details)', "kind <> 'refusal'"),
    turns: await rows('turns', '(id, stop_requested_at, button_message_ts, sources_message_ts)'),
    messages: await rows('messages', '(channel, ts, state, user_id)'),
    settings: await rows('settings', '(channel, changed_by, changed_at)'),
    feedback: await rows('feedback', '(turn_id, user_id, comment)'),
    starts: await rows('task_starts', '(id, user_id, state)', "state <> 'draft'"),
    projects: await rows('projects', '(channel, project_id)'),
    accounts: await rows('accounts', '(workspace, account_id)'),
    calls: scene.agent.calls.filter(({ name }) => changing.test(name)).length,
  };
}

let combinations = 0;

describe('whoever has just', () => {
  afterEach(() => scene.reset());

  test.each(Object.entries(LOSSES))(
    '%s gets, changes and sends nothing by any press, form or command',
    async (loss, lose) => {
      const at = await secretOf(loss, loss === 'demoted');
      const { person, secret, word, root } = at;
      const reply = await scene.messageWithButton(secret, root, 'steps');
      await slack.click({ person, channel: secret, ts: reply.ts, actionId: 'steps' });
      await scene.until('the steps are shown before', () => shownTo(at).includes('Looked up: entry'));
      slack.openHome(person);
      await scene.until('the Home tab is there', () => slack.home(person));
      await slack.command({ person, channel: secret, command: '/agent', text: 'settings' });
      await scene.until('the settings are shown before', () => shownTo(at).includes('channel_task_control'));
      await slack.closeView(person);
      lose(person, secret);
      const isDemoted = loss === 'demoted';
      const needed = ({ id }: { id: string }) => !isDemoted || !NEEDS_NO_ADMIN.test(id);
      const isReader = READERS.includes(loss);
      const since = slack.calls.length;
      const seen = (withViews: boolean) => {
        const shown = shownTo(at, since, withViews);
        return [word, 'Looked up: entry'].filter((hidden) => shown.includes(hidden));
      };
      // A view that shows it for a moment only, until the next one opens, counts too.
      const leaks = new Set<string>();
      const looking = setInterval(() => {
        for (const hidden of seen(true)) leaks.add(hidden);
      }, 5);
      onTestFinished(() => clearInterval(looking));
      const before = await state();
      const all = [...presses(at), ...forms(at)].filter(needed);
      for (const { id, payload } of all) {
        if (isReader && SHOWS_THREAD.test(id)) continue;
        await deliver(at, payload());
        combinations += 2;
      }
      for (const text of [...Object.keys(strings.agentWords), 'a question of mine']) {
        const id = `/agent ${text}`;
        if (!needed({ id }) || (isReader && SHOWS_THREAD.test(id))) continue;
        for (const _ of ['first', 'again'])
          await slack.command({ person, channel: secret, command: '/agent', text });
        combinations += 2;
      }
      for (const _ of isDemoted ? [] : ['first', 'again']) {
        await slack.shortcut({ person, callbackId: 'ask_about', channel: secret, ts: root.ts });
        combinations += 1;
      }
      await scene.expectStays(() => seen(true), []);
      clearInterval(looking);
      expect([...leaks]).toEqual([]);
      for (const { payload } of isReader ? all.filter(({ id }) => SHOWS_THREAD.test(id)) : []) {
        await deliver(at, payload());
        combinations += 2;
      }
      await scene.expectStays(() => seen(false), []);
      expect(await state()).toEqual(before);
    },
  );

  test('lost a right is tried in as many ways as the security review says', () => {
    const review = readFileSync(new URL('../../../docs/security-review.md', import.meta.url), 'utf8');
    expect(review).toContain(`in ${combinations.toLocaleString('en')} ways`);
  });
});
