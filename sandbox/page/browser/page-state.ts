import type {
  CallModel,
  ChannelModel,
  FaultSwitch,
  LiveEvent,
  MessageModel,
  PersonModel,
  PrivateModel,
  StaticInfo,
  WorkspaceModel,
} from '../page-protocol.ts';

type Topic = 'place' | 'workspace' | 'messages' | 'private' | 'calls' | 'bot' | 'switches' | 'forwarding';

type BotState = Extract<LiveEvent, { kind: 'bot' }>['bot'];

/** The two panes that show messages and take new ones. */
export type PaneName = 'channel' | 'thread';

const MAX_CALLS = 400;
/** Calls come in bursts, and each redraw lays out and paints the page anew: those of this time are drawn together. */
const CALLS_INTERVAL_MS = 250;
const EMPTY_WORKSPACE: WorkspaceModel = { team: '', bot: '', people: [], channels: [] };

/** The page's data, and the channel and thread in view. */
export class PageState {
  me = '';
  workspace = EMPTY_WORKSPACE;
  staticInfo: StaticInfo | undefined;
  privateView: PrivateModel = { ephemerals: [] };
  bot: BotState | undefined;
  switches: FaultSwitch[] = [];
  /** Oldest first. */
  calls: CallModel[] = [];
  channel = '';
  thread: string | undefined;
  tab: 'home' | 'messages' = 'messages';
  /** Whether the thread opened automatically, without a click. */
  openedAutomatically = false;
  /** The message that the next one in the channel forwards. */
  forwarding: MessageModel | undefined;
  readonly #messages = new Map<string, MessageModel>();
  readonly #read = new Map<string, string>();
  readonly #listeners = new Map<Topic, Set<() => void>>();
  readonly #arrivals = new Set<(message: MessageModel) => void>();
  #callsTimer: ReturnType<typeof setTimeout> | undefined;

  on(topics: Topic[], listener: () => void): void {
    for (const topic of topics) {
      const known = this.#listeners.get(topic) ?? new Set();
      this.#listeners.set(topic, known.add(listener));
    }
  }

  /** Adds a listener for new messages. */
  onArrival(listener: (message: MessageModel) => void): void {
    this.#arrivals.add(listener);
  }

  take(event: LiveEvent): void {
    switch (event.kind) {
      case 'start':
        this.#start(event);
        break;
      case 'message': {
        const { message } = event;
        const fresh = !this.#messages.has(keyOf(message));
        this.#messages.set(keyOf(message), message);
        if (message.channel === this.channel) this.#markRead();
        this.#tell('messages');
        if (fresh) for (const listener of this.#arrivals) listener(message);
        break;
      }
      case 'deleted':
        this.#messages.delete(keyOf(event));
        this.#tell('messages');
        break;
      case 'private': {
        const before = new Set(this.privateView.ephemerals.map(({ ts }) => ts));
        this.privateView = event.privateView;
        this.#tell('private', 'messages');
        for (const one of event.privateView.ephemerals)
          if (!before.has(one.ts)) for (const listener of this.#arrivals) listener(one);
        break;
      }
      case 'call':
        this.calls.push(event.call);
        if (this.calls.length > MAX_CALLS) this.calls.splice(0, this.calls.length - MAX_CALLS);
        if (this.#callsTimer !== undefined) break;
        this.#callsTimer = setTimeout(() => {
          this.#callsTimer = undefined;
          this.#tell('calls');
        }, CALLS_INTERVAL_MS);
        break;
      case 'workspace':
        this.workspace = event.workspace;
        this.#tell('workspace');
        break;
      case 'bot':
        this.bot = event.bot;
        this.#tell('bot');
        break;
      case 'switches':
        this.switches = event.switches;
        this.#tell('switches');
    }
  }

  /** Goes to a channel and, if given, a thread in it; `automatically` keeps the focus. */
  go(channel: string, thread?: string, automatically = false): void {
    this.openedAutomatically = automatically;
    if (channel !== this.channel) this.tab = 'messages';
    this.channel = channel;
    this.thread = thread;
    this.#markRead();
    this.#tell('place');
  }

  forward(message: MessageModel | undefined): void {
    this.forwarding = message;
    this.#tell('forwarding');
  }

  show(tab: 'home' | 'messages'): void {
    this.tab = tab;
    this.#tell('place');
  }

  person(id: string): PersonModel | undefined {
    return this.workspace.people.find((one) => one.id === id);
  }

  nameOf(id: string): string {
    return this.person(id)?.realName ?? id;
  }

  get place(): ChannelModel | undefined {
    return this.workspace.channels.find(({ id }) => id === this.channel);
  }

  /** This person's direct messages with the bot. */
  get botDm(): ChannelModel | undefined {
    const { bot, channels } = this.workspace;
    return channels.find(({ kind, members }) => kind === 'im' && members.includes(bot));
  }

  /** The messages in the channel pane, oldest first: roots, and replies that were also sent to the channel. */
  roots(channel: string): MessageModel[] {
    return this.#sorted((one) => {
      const here = one.thread === undefined || one.subtype === 'thread_broadcast';
      return one.channel === channel && here;
    });
  }

  /** A thread's root and replies, oldest first. */
  inThread(channel: string, root: string): MessageModel[] {
    return this.#sorted((one) => one.channel === channel && (one.ts === root || one.thread === root));
  }

  /** The replies that everybody in the channel sees, oldest first. */
  repliesTo({ channel, ts }: MessageModel): MessageModel[] {
    return this.inThread(channel, ts).filter((one) => one.ts !== ts && !one.ephemeral);
  }

  unread(channel: string): number {
    const read = this.#read.get(channel) ?? '';
    return this.#sorted(
      (one) => one.channel === channel && one.ts > read && one.user !== this.me && !one.ephemeral,
    ).length;
  }

  #sorted(which: (message: MessageModel) => boolean): MessageModel[] {
    return [...this.#messages.values(), ...this.privateView.ephemerals]
      .filter(which)
      .sort((one, other) => (one.ts < other.ts ? -1 : 1));
  }

  #start(event: Extract<LiveEvent, { kind: 'start' }>): void {
    const newcomer = event.me !== this.me;
    Object.assign(this, {
      me: event.me,
      workspace: event.workspace,
      staticInfo: event.staticInfo,
      privateView: event.privateView,
      bot: event.bot,
      switches: event.switches,
      calls: event.calls,
    });
    this.#messages.clear();
    for (const message of event.messages) this.#messages.set(keyOf(message), message);
    if (newcomer) {
      this.#read.clear();
      for (const { channel, ts } of event.messages) this.#read.set(channel, ts);
    }
    if (this.place === undefined) {
      this.channel = event.workspace.channels[0]?.id ?? '';
      this.thread = undefined;
    }
    this.#markRead();
    this.#tell('workspace', 'messages', 'private', 'calls', 'bot', 'switches', 'place');
  }

  #markRead(): void {
    const last = this.#sorted(({ channel }) => channel === this.channel).at(-1);
    if (last !== undefined) this.#read.set(this.channel, last.ts);
  }

  #tell(...topics: Topic[]): void {
    const listeners = new Set(topics.flatMap((topic) => [...(this.#listeners.get(topic) ?? [])]));
    for (const listener of listeners) listener();
  }
}

function keyOf({ channel, ts }: { channel: string; ts: string }): string {
  return `${channel} ${ts}`;
}

/** The state of the page. */
export const state = new PageState();
