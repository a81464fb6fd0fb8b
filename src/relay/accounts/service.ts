import { AgentClient } from '../../agent/client.ts';
import type { AgentClientOptions } from '../../agent/options.ts';
import { ReadRate } from '../showing/read-rate.ts';

/** What the clients of all accounts share. */
export interface ServiceOptions
  extends Pick<
    AgentClientOptions,
    'dialect' | 'allowedHosts' | 'onTry' | 'log' | 'partMemory' | 'bounds' | 'lookup'
  > {
  readsPerSecond: number;
}

/** Stops calls with a key that was refused, and tells since when. */
export interface KeyGate {
  enter(): void;
  refused(error: Error): void;
  accepted(): void;
  readonly refusedSince: Date | undefined;
}

/** The client of one account. */
export interface Service {
  readonly agent: AgentClient;
  readonly rate: ReadRate;
  readonly gate: KeyGate;
}

/** Where an account is; the key is read before each call. */
export interface Credentials {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The client of an account. Throws TypeError where its address or key cannot be used. */
export function openService(
  credentials: Credentials,
  { readsPerSecond, ...shared }: ServiceOptions,
  gate: KeyGate,
): Service {
  const rate = new ReadRate(readsPerSecond);
  const agent = new AgentClient({
    ...shared,
    baseUrl: credentials.baseUrl,
    get apiKey() {
      return credentials.apiKey;
    },
    gate,
    beforeRead: (signal) => rate.open(signal),
    onRateLimited: (pauseMs) => rate.hold(pauseMs),
  });
  return { agent, rate, gate };
}
