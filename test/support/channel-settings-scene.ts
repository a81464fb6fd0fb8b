import type { Channel, Person } from '../../sandbox/slack/slack-workspace.ts';
import type { View } from '../../sandbox/slack/views.ts';
import { settingsSaved } from '../../src/render/strings/index.ts';
import type { AppScene } from './app-scene.ts';

/** The modal with a channel's settings, in the hands of one person. */
export class ChannelSettingsModal {
  readonly #scene: AppScene;
  readonly #person: Person;

  constructor(scene: AppScene, person: Person) {
    this.#scene = scene;
    this.#person = person;
  }

  get view(): View | undefined {
    return this.#scene.slack.modal(this.#person);
  }

  /** All that the modal shows, as JSON. */
  get shown(): string {
    return JSON.stringify(this.view?.blocks ?? []);
  }

  /** The ids of the fields. */
  get fields(): string[] {
    return (this.view?.blocks ?? []).flatMap(({ type, block_id }) =>
      type === 'input' ? [String(block_id)] : [],
    );
  }

  /** Sends the form; the answer is what is said below the fields, or undefined where it was saved. */
  async save(values: Record<string, string | string[]>): Promise<unknown> {
    const { acked, body } = await this.#scene.slack.submitView(this.#person, values);
    if (!acked) throw new Error('Slack was not answered.');
    return JSON.stringify(body).includes(settingsSaved) ? undefined : body;
  }
}

/** Opens the settings by `/agent settings`; waits until they are there, or what is shown in their place. */
export async function openChannelSettings(
  scene: AppScene,
  person: Person,
  channel: Channel,
): Promise<ChannelSettingsModal> {
  // What was left open would pass for the new one.
  if (scene.slack.modal(person) !== undefined) await scene.slack.closeView(person);
  await scene.slack.command({ person, channel, command: '/agent', text: 'settings' });
  const modal = new ChannelSettingsModal(scene, person);
  await scene.until(
    'the settings are there',
    () => modal.view !== undefined && !modal.shown.includes('Loading…'),
  );
  return modal;
}

/** Opens the settings and saves some. */
export async function saveChannelSettings(
  scene: AppScene,
  channel: Channel,
  values: Record<string, string | string[]>,
): Promise<void> {
  const errors = await (await openChannelSettings(scene, scene.ada, channel)).save(values);
  if (errors !== undefined) throw new Error(`Not saved: ${JSON.stringify(errors)}`);
}

/** What the audit trail tells of a channel. */
export async function auditRows(scene: AppScene, channel: Channel, kind: 'setting' | 'refusal') {
  const rows = await scene.sandbox.bot.store.db
    .selectFrom('audit_events')
    .select(['user_id', 'details'])
    .where('channel', '=', channel.id)
    .where('kind', '=', kind)
    .orderBy('id')
    .execute();
  return rows;
}

/** The service's projects, by what the test says of them. */
export function projectOf(scene: AppScene, of: Channel) {
  return scene.agent.projects.find(({ title }) => title === of.name);
}

/** Makes a project at the service, beside the bot. */
export async function newProject(scene: AppScene, title: string, description = ''): Promise<string> {
  await fetch(`${scene.agent.url}/projects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.agent.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title, description }),
  });
  return scene.agent.projects.find((one) => one.title === title)?.id ?? '';
}

/** A task at the service. */
export function taskOf(scene: AppScene, title: string) {
  return scene.agent.tasks.findLast((task) => task.title === title);
}

/** Bodies of the calls that changed a project. */
export function projectUpdates(scene: AppScene, id: string): unknown[] {
  return scene.agent.calls
    .filter(({ name, path }) => name === 'PUT /projects/{project_id}' && path.includes(id))
    .map(({ body }) => body)
    .filter((body) => JSON.stringify(body) !== '{}');
}
