import type { Response } from 'express';
import type { AgentService } from '../agent/agent-service.ts';
import type { RecordedCall as ServiceCall } from '../agent/call-log.ts';
import type { BotSupervisor } from '../bot-supervisor.ts';
import type { RegistryService } from '../registry-service.ts';
import { SLACK_LIMITS } from '../slack/rate-limits.ts';
import type { Channel, Message, RecordedCall, SlackWorkspace } from '../slack/slack-workspace.ts';
import { sampleFile } from './action-executor.ts';
import type { FaultSwitches } from './fault-switches.ts';
import type { ManifestCommands } from './manifest-commands.ts';
import type { CallModel, LiveEvent } from './page-protocol.ts';
import { messageModel, messageModels, privateModel, workspaceModel } from './view-models.ts';

/** Earlier calls that a newly opened page shows. */
const RECENT_CALLS = 150;

interface Reader {
  me: string;
  response: Response;
}

interface EventStreamDeps {
  slack: SlackWorkspace;
  agent: AgentService;
  registry: RegistryService | undefined;
  bot: BotSupervisor | undefined;
  switches: FaultSwitches;
  manifestCommands: ManifestCommands;
}

/** Sends each open page what its person sees, as it happens (server-sent events). */
export class EventStream {
  readonly #deps: EventStreamDeps;
  readonly #readers = new Set<Reader>();
  readonly #unsubscribers: (() => void)[];

  constructor(deps: EventStreamDeps) {
    this.#deps = deps;
    const { slack, agent, registry, bot } = deps;
    this.#unsubscribers = [
      slack.onChange(({ channel, message }) => {
        if (message.subtype !== undefined && /^(channel|group)_/.test(message.subtype))
          this.#sendWorkspaces();
        this.#sendMessage(channel, message);
      }),
      slack.onPrivateChange((user) =>
        this.#send({ kind: 'private', privateView: privateModel(slack, user) }, (me) => me === user),
      ),
      slack.onCall((call) => {
        this.#send({ kind: 'call', call: slackCall(call) });
        if (/^(agents\.sessions|assistant\.threads)\.setStatus$/.test(call.method)) this.#sendStatus(call);
      }),
      agent.onCall((call) => this.#send({ kind: 'call', call: serviceCall(call) })),
      registry?.onCall((call) => this.#send({ kind: 'call', call: registryCall(call) })) ?? (() => {}),
      bot?.onState((state) => this.#send({ kind: 'bot', bot: state })) ?? (() => {}),
    ];
  }

  /** Adds a page until its connection closes. */
  open(me: string, response: Response): void {
    response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const reader = { me, response };
    response.write(`data: ${JSON.stringify(this.#startEvent(me))}\n\n`);
    this.#readers.add(reader);
    response.on('close', () => this.#readers.delete(reader));
  }

  /** Sends the state of the switches to all pages. */
  sendSwitches(): void {
    this.#send({ kind: 'switches', switches: this.#deps.switches.all });
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
    for (const { response } of this.#readers) response.end();
  }

  #startEvent(me: string): LiveEvent {
    const slack = this.#deps.slack;
    const { name, bytes } = sampleFile();
    const calls = [...slack.calls.slice(-RECENT_CALLS).map(slackCall), ...this.#lastServiceCalls()];
    return {
      kind: 'start',
      me,
      staticInfo: {
        ...this.#deps.manifestCommands,
        sample: { name, bytes: bytes.length },
        editsPerMinute: SLACK_LIMITS.tier3,
        slackApiUrl: slack.apiUrl,
        serviceUrl: this.#deps.agent.url,
      },
      workspace: workspaceModel(slack, me),
      messages: messageModels(slack, me),
      privateView: privateModel(slack, me),
      calls: calls.sort((one, other) => one.at - other.at).slice(-RECENT_CALLS),
      bot: this.#deps.bot?.state,
      switches: this.#deps.switches.all,
    };
  }

  #lastServiceCalls(): CallModel[] {
    return this.#deps.agent.calls.slice(-RECENT_CALLS).map(serviceCall);
  }

  #sendWorkspaces(): void {
    for (const me of new Set([...this.#readers].map((reader) => reader.me))) {
      this.#send(
        { kind: 'workspace', workspace: workspaceModel(this.#deps.slack, me) },
        (other) => other === me,
      );
    }
  }

  #sendStatus({ args, ok }: RecordedCall): void {
    if (!ok) return;
    const channel = this.#deps.slack.channel(String(args.channel_id));
    const root = channel.messages.get(String(args.thread_ts));
    if (root !== undefined) this.#sendMessage(channel, root);
  }

  #sendMessage(channel: Channel, message: Message): void {
    const seen = messageModel(this.#deps.slack, channel, message);
    const event: LiveEvent =
      seen === undefined
        ? { kind: 'deleted', channel: channel.id, ts: message.ts }
        : { kind: 'message', message: seen };
    this.#send(event, (me) => channel.members.has(me));
  }

  #send(event: LiveEvent, isRecipient: (me: string) => boolean = () => true): void {
    let line: string | undefined;
    for (const { me, response } of this.#readers) {
      if (!isRecipient(me)) continue;
      line ??= `data: ${JSON.stringify(event)}\n\n`;
      response.write(line);
    }
  }
}

function slackCall({ method, ok, status, error, ms, at }: RecordedCall): CallModel {
  return { side: 'slack', name: method, ok, status, ...(error === undefined ? {} : { error }), ms, at };
}

/** A registry that does not have something has answered. */
function registryCall({ name, status, ms, at }: ServiceCall): CallModel {
  return { side: 'registry', name, ok: status === 200 || status === 404, status, ms, at };
}

/** The task that the app asks for, with its key and with a wrong one, to learn whether the service accepts its key. */
const NO_TASK = /\/tasks\/0{8}-(?:0{4}-){3}0{12}$/;

function serviceCall({ name, path, status, ms, at }: ServiceCall): CallModel {
  if (NO_TASK.test(path) && (status === 401 || status === 404)) {
    const check = `check of the key (${status}, as expected)`;
    return { side: 'service', name: check, ok: true, status, ms, at };
  }
  return { side: 'service', name, ok: status >= 200 && status < 400, status, ms, at };
}
