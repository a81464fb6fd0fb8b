import type { Response } from 'express';
import type { RecordedCall as ServiceCall } from '../agent/calls.ts';
import type { AgentService } from '../agent/service.ts';
import type { BotKeeper } from '../bot-keeper.ts';
import { SLACK_LIMITS } from '../slack/limits.ts';
import type { Channel, Message, RecordedCall, SlackWorkspace } from '../slack/workspace.ts';
import { sample } from './deeds.ts';
import type { Offers } from './offers.ts';
import { messagesFor, privateThings, seenMessage, worldFor } from './seen.ts';
import type { Switches } from './switches.ts';
import type { LiveEvent, SeenCall } from './wire.ts';

/** Calls that somebody sees who comes later. */
const oldCalls = 150;

interface Reader {
  me: string;
  response: Response;
}

/** Tells each open page what its person sees, as it happens (server-sent events). */
export class Feed {
  readonly #slack: SlackWorkspace;
  readonly #agent: AgentService;
  readonly #bot: BotKeeper | undefined;
  readonly #switches: Switches;
  readonly #offers: Offers;
  readonly #readers = new Set<Reader>();
  readonly #quiet: (() => void)[];

  constructor(parts: {
    slack: SlackWorkspace;
    agent: AgentService;
    bot: BotKeeper | undefined;
    switches: Switches;
    offers: Offers;
  }) {
    const { slack, agent, bot } = parts;
    this.#slack = slack;
    this.#agent = agent;
    this.#bot = bot;
    this.#switches = parts.switches;
    this.#offers = parts.offers;
    this.#quiet = [
      slack.onChange(({ channel, message }) => {
        if (message.subtype !== undefined && /^(channel|group)_/.test(message.subtype)) this.#tellWorlds();
        this.#tellMessage(channel, message);
      }),
      slack.onPrivateChange((user) =>
        this.#tell({ kind: 'mine', mine: privateThings(slack, user) }, (me) => me === user),
      ),
      slack.onCall((call) => {
        this.#tell({ kind: 'call', call: slackCall(call) });
        if (/^(agents\.sessions|assistant\.threads)\.setStatus$/.test(call.method)) this.#tellStatus(call);
      }),
      agent.onCall((call) => this.#tell({ kind: 'call', call: serviceCall(call) })),
      bot?.onState((state) => this.#tell({ kind: 'bot', bot: state })) ?? (() => {}),
    ];
  }

  /** Begins to tell a page; ends when it goes. */
  open(me: string, response: Response): void {
    response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const reader = { me, response };
    response.write(`data: ${JSON.stringify(this.#start(me))}\n\n`);
    this.#readers.add(reader);
    response.on('close', () => this.#readers.delete(reader));
  }

  /** Tells all pages how the switches are. */
  tellSwitches(): void {
    this.#tell({ kind: 'switches', switches: this.#switches.all });
  }

  stop(): void {
    for (const quiet of this.#quiet) quiet();
    for (const { response } of this.#readers) response.end();
  }

  #start(me: string): LiveEvent {
    const slack = this.#slack;
    const { name, bytes } = sample();
    const calls = [...slack.calls.slice(-oldCalls).map(slackCall), ...this.#lastServiceCalls()];
    return {
      kind: 'start',
      me,
      basics: {
        ...this.#offers,
        sample: { name, bytes: bytes.length },
        editsPerMinute: SLACK_LIMITS.tier3,
        slackApiUrl: slack.apiUrl,
        serviceUrl: this.#agent.url,
      },
      world: worldFor(slack, me),
      messages: messagesFor(slack, me),
      mine: privateThings(slack, me),
      calls: calls.sort((one, other) => one.at - other.at).slice(-oldCalls),
      bot: this.#bot?.state,
      switches: this.#switches.all,
    };
  }

  #lastServiceCalls(): SeenCall[] {
    return this.#agent.calls.slice(-oldCalls).map(serviceCall);
  }

  #tellWorlds(): void {
    for (const me of new Set([...this.#readers].map((reader) => reader.me))) {
      this.#tell({ kind: 'world', world: worldFor(this.#slack, me) }, (other) => other === me);
    }
  }

  #tellStatus({ args, ok }: RecordedCall): void {
    if (!ok) return;
    const channel = this.#slack.channel(String(args.channel_id));
    const root = channel.messages.get(String(args.thread_ts));
    if (root !== undefined) this.#tellMessage(channel, root);
  }

  #tellMessage(channel: Channel, message: Message): void {
    const seen = seenMessage(this.#slack, channel, message);
    const event: LiveEvent =
      seen === undefined
        ? { kind: 'gone', channel: channel.id, ts: message.ts }
        : { kind: 'message', message: seen };
    this.#tell(event, (me) => channel.members.has(me));
  }

  #tell(event: LiveEvent, whom: (me: string) => boolean = () => true): void {
    let line: string | undefined;
    for (const { me, response } of this.#readers) {
      if (!whom(me)) continue;
      line ??= `data: ${JSON.stringify(event)}\n\n`;
      response.write(line);
    }
  }
}

function slackCall({ method, ok, status, error, ms, at }: RecordedCall): SeenCall {
  return { side: 'slack', name: method, ok, status, ...(error === undefined ? {} : { error }), ms, at };
}

function serviceCall({ name, status, ms, at }: ServiceCall): SeenCall {
  return { side: 'service', name, ok: status >= 200 && status < 400, status, ms, at };
}
