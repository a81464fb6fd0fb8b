import { z } from 'zod';
import { checkBlocks } from './block-validation.ts';
import type { Deliveries, DeliveryOutcome } from './deliveries.ts';
import type { Messages } from './messages.ts';
import {
  type Block,
  type Channel,
  type Ephemeral,
  type Fields,
  isFields,
  type Message,
  type Person,
  type Team,
} from './model.ts';
import { SlackRefusal } from './slack-refusal.ts';
import type { World } from './world.ts';

/** The outcome of a click, command or submission. */
export interface InteractionResult {
  /** Whether the app acknowledged it; otherwise the person sees an error. */
  acked: boolean;
  /** The body of the acknowledgement, if any. */
  body: unknown;
  triggerId: string;
  responseUrl: string;
}

/** What a response_url refers to. */
export interface ResponseTarget {
  team: Team;
  user: string;
  channel: Channel;
  message?: Message;
  ephemeral?: Ephemeral;
}

interface Trigger {
  teamId: string;
  user: string;
  expires: number;
  used: boolean;
}

const RESPONSE_USES = 5;
const RESPONSE_MS = 30 * 60_000;

/** What the app answers: `in_channel` and threads are not known here. */
const response = z.strictObject({
  text: z.string().optional(),
  blocks: z.unknown().optional(),
  response_type: z.literal('ephemeral').optional(),
  replace_original: z.boolean().optional(),
  /** Of an ephemeral message alone. */
  delete_original: z.boolean().optional(),
});

/** Sends interactions to the app, and manages trigger_ids and response_urls. */
export class Interactions {
  readonly #deps: { world: World; messages: Messages; deliveries: Deliveries; triggerMs: number };
  readonly #triggers = new Map<string, Trigger>();
  readonly #responses = new Map<string, { target: ResponseTarget; left: number; expires: number }>();

  constructor(deps: { world: World; messages: Messages; deliveries: Deliveries; triggerMs: number }) {
    this.#deps = deps;
  }

  /** Uses up a trigger_id and returns its person. @throws SlackRefusal invalid_trigger_id, expired_trigger_id, exchanged_trigger_id */
  useTrigger(team: Team, id: string | undefined): string {
    const trigger = this.#triggers.get(id ?? '');
    if (trigger === undefined || trigger.teamId !== team.id) throw new SlackRefusal('invalid_trigger_id');
    if (trigger.expires < this.#deps.world.clock.now()) throw new SlackRefusal('expired_trigger_id');
    if (trigger.used) throw new SlackRefusal('exchanged_trigger_id');
    trigger.used = true;
    return trigger.user;
  }

  /** Sends an interaction with the fields that all of them share. */
  async send(
    team: Team,
    person: Person,
    payload: Fields,
    target?: ResponseTarget,
  ): Promise<InteractionResult & { outcome: DeliveryOutcome }> {
    const { organisation } = team.installation;
    const triggerId = this.#trigger(team, person);
    const responseUrl = target === undefined ? '' : this.#responseUrl('actions', target);
    const outcome = await this.#deps.deliveries.interaction('interactive', {
      user: { id: person.id, username: person.name, name: person.name, team_id: person.homeTeamId },
      api_app_id: team.bot.appId,
      token: 'verification-token',
      // For an organisation's installation Slack names only where the person is at home.
      team: organisation === undefined ? { id: team.id, domain: team.domain } : null,
      enterprise: organisation ?? null,
      is_enterprise_install: organisation !== undefined,
      trigger_id: triggerId,
      ...(target === undefined ? {} : { response_url: responseUrl }),
      ...payload,
    });
    return { ...result(outcome, triggerId, responseUrl), outcome };
  }

  /** Sends a slash command and shows a response in the acknowledgement. */
  async command(
    team: Team,
    person: Person,
    channel: Channel,
    command: string,
    text: string,
  ): Promise<InteractionResult> {
    const { organisation } = team.installation;
    const triggerId = this.#trigger(team, person);
    const target = { team, user: person.id, channel };
    const responseUrl = this.#responseUrl('commands', target);
    const outcome = await this.#deps.deliveries.interaction('slash_commands', {
      token: 'verification-token',
      team_id: team.id,
      team_domain: team.domain,
      channel_id: channel.id,
      channel_name: channel.kind === 'im' ? 'directmessage' : channel.name,
      user_id: person.id,
      user_name: person.name,
      command,
      text,
      api_app_id: team.bot.appId,
      ...(organisation === undefined ? {} : { enterprise_id: organisation.id }),
      is_enterprise_install: String(organisation !== undefined),
      response_url: responseUrl,
      trigger_id: triggerId,
    });
    const said = result(outcome, triggerId, responseUrl);
    if (typeof said.body === 'string') this.#respond(target, { text: said.body });
    else if (isFields(said.body)) this.#respond(target, said.body);
    return said;
  }

  /** Handles a POST to a response_url (five times within half an hour); returns the HTTP status and body. */
  answer(key: string, body: unknown): { status: number; body: string } {
    const open = this.#responses.get(key);
    if (open === undefined || open.left <= 0 || open.expires < this.#deps.world.clock.now()) {
      return { status: 404, body: 'used_url' };
    }
    open.left -= 1;
    try {
      this.#respond(open.target, body);
      return { status: 200, body: 'ok' };
    } catch (error) {
      if (error instanceof SlackRefusal) return { status: 400, body: error.code };
      throw error;
    }
  }

  #respond(target: ResponseTarget, body: unknown): void {
    const parsed = response.safeParse(body);
    if (!parsed.success) throw new SlackRefusal('invalid_payload');
    const said = parsed.data;
    if (said.delete_original) {
      this.#deleteOriginal(target);
      return;
    }
    const blocks = said.blocks === undefined ? undefined : checkBlocks(said.blocks, 'message');
    if (said.text === undefined && blocks === undefined) throw new SlackRefusal('no_text');
    const content = { text: said.text ?? '', blocks };
    if (said.replace_original) this.#replaceOriginal(target, content);
    else this.#deps.messages.postEphemeral(target.channel, { user: target.user, ...content });
  }

  #deleteOriginal({ channel, ephemeral }: ResponseTarget): void {
    if (ephemeral === undefined) throw new SlackRefusal('invalid_payload');
    channel.ephemerals = channel.ephemerals.filter((one) => one !== ephemeral);
    this.#deps.world.changedFor(ephemeral.user);
  }

  #replaceOriginal(
    { channel, message, ephemeral }: ResponseTarget,
    content: { text: string; blocks: Block[] | undefined },
  ): void {
    if (message !== undefined) this.#deps.messages.edit(channel, message, content);
    if (ephemeral === undefined) return;
    Object.assign(ephemeral, content);
    this.#deps.world.changedFor(ephemeral.user);
  }

  #trigger(team: Team, person: Person): string {
    const id = `${this.#deps.world.ids.letters(12)}.${this.#deps.world.ids.letters(12)}.${this.#deps.world.ids.uuid()}`;
    const expires = this.#deps.world.clock.now() + this.#deps.triggerMs;
    this.#triggers.set(id, { teamId: team.id, user: person.id, expires, used: false });
    return id;
  }

  #responseUrl(kind: 'actions' | 'commands', target: ResponseTarget): string {
    const key = this.#deps.world.ids.letters(24);
    const expires = this.#deps.world.clock.now() + RESPONSE_MS;
    this.#responses.set(key, { target, left: RESPONSE_USES, expires });
    return `${this.#deps.world.baseUrl}/${kind}/${target.team.id}/${key}`;
  }
}

function result(outcome: DeliveryOutcome, triggerId: string, responseUrl: string): InteractionResult {
  return { acked: outcome.acked, body: outcome.acked ? outcome.body : undefined, triggerId, responseUrl };
}
