import { pressAction, viewState } from '../block-elements.ts';
import type { InteractionResult, ResponseTarget } from '../interactions.ts';
import { type Channel, type Fields, isFields, type Person, type Team } from '../model.ts';
import { fileJson, messageJson } from '../slack-objects.ts';
import { emptyInputs } from '../view-inputs.ts';
import { type View, viewJson } from '../views.ts';
import type { WorkspaceDeps } from '../web-api-method.ts';
import type { ChannelRef, PersonRef } from './admin-actions.ts';
import { MessageActions } from './message-actions.ts';

export interface Click {
  person: PersonRef;
  /** Where the element is: a message or ephemeral message in a channel ... */
  channel?: ChannelRef;
  ts?: string;
  /** ... or the person's Home tab or modal. */
  view?: 'home' | 'modal';
  actionId: string;
  /** The value of the button or option, if several share the action_id. */
  value?: string;
  /** All selected values, if the element takes several. */
  values?: string[];
  /** The values of the view's inputs at that moment; see `submitView`. */
  state?: Record<string, string | string[]>;
}

/** How people use the app: buttons, commands, shortcuts, modals, the Home tab. */
export class InteractionActions<Deps extends WorkspaceDeps> extends MessageActions<Deps> {
  /** Presses a button or selects an option. @throws if no element has this action_id */
  async click(click: Click): Promise<InteractionResult> {
    const person = this.person(click.person);
    const team = this.deps.world.team(person.teamId);
    if (click.view !== undefined) return this.clickInView(team, person, click, click.view);
    const channel = this.channel(click.channel ?? '');
    const ts = click.ts ?? '';
    const ephemeral = channel.ephemerals.find((one) => one.ts === ts && one.user === person.id);
    const message = ephemeral === undefined ? this.message(channel, ts) : undefined;
    const shown = ephemeral ?? message;
    const action = pressAction(shown?.blocks ?? [], click, this.deps.world.ids.ts());
    const target: ResponseTarget = { team, user: person.id, channel };
    if (message !== undefined) target.message = message;
    if (ephemeral !== undefined) target.ephemeral = ephemeral;
    const thread = shown?.threadTs === undefined ? {} : { thread_ts: shown.threadTs };
    return this.deps.interactions.send(
      team,
      person,
      {
        type: 'block_actions',
        container: {
          type: 'message',
          message_ts: ts,
          channel_id: channel.id,
          is_ephemeral: ephemeral !== undefined,
          ...thread,
        },
        channel: channelRef(channel),
        ...(message === undefined ? {} : { message: messageJson(this.deps.world, channel, message, false) }),
        state: { values: {} },
        actions: [action],
      },
      target,
    );
  }

  /** Types a slash command such as `/agent`. Its text arrives as it is typed, as without `should_escape` in the manifest. */
  async command(said: {
    person: PersonRef;
    channel: ChannelRef;
    command: string;
    text?: string;
  }): Promise<InteractionResult> {
    const channel = this.channel(said.channel);
    const team = this.deps.world.team(channel.teamId);
    const { command, text = '' } = said;
    return this.deps.interactions.command(team, this.person(said.person), channel, command, text);
  }

  /** Uses a global shortcut, or a message shortcut if a channel and a ts are given. */
  async shortcut(used: {
    person: PersonRef;
    callbackId: string;
    channel?: ChannelRef;
    ts?: string;
  }): Promise<InteractionResult> {
    const person = this.person(used.person);
    const team = this.deps.world.team(person.teamId);
    const common = { callback_id: used.callbackId, action_ts: this.deps.world.ids.ts() };
    if (used.channel === undefined || used.ts === undefined) {
      return this.deps.interactions.send(team, person, { type: 'shortcut', ...common });
    }
    const channel = this.channel(used.channel);
    const message = this.message(channel, used.ts);
    return this.deps.interactions.send(
      team,
      person,
      {
        type: 'message_action',
        ...common,
        channel: channelRef(channel),
        message_ts: message.ts,
        message: messageJson(this.deps.world, channel, message, false),
      },
      { team, user: person.id, channel, message },
    );
  }

  /** Opens the app's Home tab or its messages. */
  openHome(personRef: PersonRef, tab: 'home' | 'messages' = 'home'): void {
    const person = this.person(personRef);
    const team = this.deps.world.team(person.teamId);
    const home = this.deps.views.home(person.id);
    const view = home === undefined || tab !== 'home' ? {} : { view: viewJson(team, home) };
    const channel = this.openDm(person).id;
    const event = { type: 'app_home_opened', user: person.id, channel, tab, ...view };
    this.deps.events.emit(team, { ...event, event_ts: this.deps.world.ids.ts() });
  }

  /**
   * Submits the open modal. `values` maps an action_id (or `block_id/action_id`) to text, an option's value, the id
   * of an uploaded file, or a list of them.
   * @throws if no modal is open, or a required input is empty
   */
  async submitView(
    personRef: PersonRef,
    values: Record<string, string | string[]> = {},
  ): Promise<InteractionResult> {
    const { person, team, view } = this.opened(personRef);
    this.fill(view, values);
    const empty = emptyInputs(view.blocks, view.values);
    if (empty.length > 0) throw new Error(`Slack requires these inputs: ${empty.join(', ')}.`);
    const payload = { type: 'view_submission', view: viewJson(team, view), response_urls: [] };
    const sent = await this.deps.interactions.send(team, person, payload);
    if (!sent.acked || this.applyResponse(team, view, sent.body)) return sent;
    return { ...sent, acked: false };
  }

  /** Closes the person's modal: the app does not hear of it. @throws if no modal is open */
  async closeView(personRef: PersonRef): Promise<void> {
    this.deps.views.close(this.opened(personRef).person.id);
  }

  /** Presses Slack's own Stop button of an agent session. */
  stopSession(personRef: PersonRef, channelRefOrId: ChannelRef, threadTs: string): void {
    const channel = this.channel(channelRefOrId);
    const team = this.deps.world.team(channel.teamId);
    const user = this.person(personRef).id;
    const event = { type: 'agent_session_stopped', channel: channel.id, thread_ts: threadTs, user };
    this.deps.events.emit(team, { ...event, streaming_message_ts: [], event_ts: this.deps.world.ids.ts() });
  }

  /** The person's Home tab, if the app has published one. */
  home(person: PersonRef): View | undefined {
    return this.deps.views.home(this.person(person).id);
  }

  /** The person's open modal. */
  modal(person: PersonRef): View | undefined {
    return this.deps.views.modal(this.person(person).id);
  }

  private async clickInView(
    team: Team,
    person: Person,
    click: Click,
    where: 'home' | 'modal',
  ): Promise<InteractionResult> {
    const view = where === 'home' ? this.home(person) : this.modal(person);
    if (view === undefined) throw new Error(`${person.name} has no ${where} view open.`);
    if (click.state !== undefined) this.fill(view, click.state);
    return this.deps.interactions.send(team, person, {
      type: 'block_actions',
      container: { type: 'view', view_id: view.id },
      view: viewJson(team, view),
      actions: [pressAction(view.blocks, click, this.deps.world.ids.ts())],
    });
  }

  private fill(view: View, values: Record<string, string | string[]>): void {
    const { world } = this.deps;
    view.values = viewState(view.blocks, values, (id) => {
      const file = world.files.get(id);
      return file === undefined ? undefined : fileJson(world, file, false);
    });
  }

  private opened(personRef: PersonRef): { person: Person; team: Team; view: View } {
    const person = this.person(personRef);
    const view = this.modal(person);
    if (view === undefined) throw new Error(`${person.name} has no modal open.`);
    return { person, team: this.deps.world.team(person.teamId), view };
  }

  /** Applies the response to a submission; an empty one closes the modal. Returns false if Slack rejects it. */
  private applyResponse(team: Team, view: View, body: unknown): boolean {
    const { response_action: action, errors, view: next } = isFields(body) ? body : {};
    if (action === 'errors') return areErrors(view, errors);
    if (action === 'update') this.deps.views.update(team, view.id, undefined, next);
    else if (action === undefined) this.deps.views.close(view.user);
    else return false;
    return true;
  }
}

function channelRef(channel: Channel): Fields {
  return { id: channel.id, name: channel.kind === 'im' ? 'directmessage' : channel.name };
}

/** Errors map the block_ids of inputs to sentences. */
function areErrors(view: View, errors: unknown): boolean {
  if (!isFields(errors) || Object.keys(errors).length === 0) return false;
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id);
  return Object.entries(errors).every(([id, said]) => inputs.includes(id) && typeof said === 'string');
}
