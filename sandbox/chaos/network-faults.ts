import { NetworkProxy } from '../network-proxy.ts';
import { type Breakable, breakable, type Fault } from './recovery.ts';

/** Where the bot's calls lead to. */
const PLACES = ['slack', 'agent', 'storage'] as const;

/** How slow each answer is on a slow path (ms). */
const SLOW_MS = 500;
/** On a path that loses answers: of the requests, how many are carried out, but not answered. */
const UNANSWERED = 0.1;

/** The paths from the bot to Slack, to the service and to its storage, which can fail in every way. */
export interface FaultyNetwork extends Breakable {
  readonly proxies: Readonly<Record<(typeof PLACES)[number], NetworkProxy>>;
}

/** Starts them; each leads nowhere until its server listens. `undo` stops them. */
export async function startFaultyNetwork(
  random: () => number,
  undo: AsyncDisposableStack,
): Promise<FaultyNetwork> {
  const start = async () => {
    const proxy = await new NetworkProxy().listen();
    undo.defer(() => proxy.stop());
    return proxy;
  };
  const proxies = { slack: await start(), agent: await start(), storage: await start() };
  const faults = PLACES.flatMap((place) => {
    const ways = Object.entries(waysToFail(proxies[place], random));
    return ways.map(([way, fault]) => [`${place}${way}`, fault] as const);
  });
  return { proxies, ...breakable(Object.fromEntries(faults)) };
}

function waysToFail(proxy: NetworkProxy, random: () => number): Record<string, Fault> {
  return {
    // New connections work at once, so the path dies again at the end, from which the recovery is measured.
    Silent: { begin: () => proxy.silence(), end: () => proxy.silence() },
    Reset: { begin: () => proxy.reset('closed'), end: () => proxy.restore() },
    Slow: {
      begin: () => {
        proxy.latencyMs = SLOW_MS;
      },
      end: () => {
        proxy.latencyMs = 0;
      },
    },
    Unanswered: {
      begin: () => {
        proxy.losesAnswer = () => random() < UNANSWERED;
      },
      end: () => {
        proxy.losesAnswer = () => false;
      },
    },
  };
}
