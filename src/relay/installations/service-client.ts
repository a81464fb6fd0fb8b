import { AgentClient } from '../../agent/agent-client.ts';
import type { AgentClientOptions } from '../../agent/client-options.ts';
import { ReadRate } from '../runtime/read-rate.ts';

/** What the clients of all accounts share. */
export interface ServiceClientOptions
  extends Pick<
    AgentClientOptions,
    'serviceOptions' | 'allowedHosts' | 'onTry' | 'log' | 'uploadMemory' | 'responseLimits' | 'lookup'
  > {
  readsPerSecond: number;
}

/** Stops calls with a key that was refused, and tells since when. */
export interface ObservedKeyGate {
  enter(): void;
  refused(error: Error): void;
  accepted(): void;
  readonly refusedSince: Date | undefined;
}

/** The client of one account. */
export interface ServiceClient {
  readonly agent: AgentClient;
  readonly readRate: ReadRate;
  readonly gate: ObservedKeyGate;
}

/** Where an account is; the key is read before each call. */
export interface ServiceCredentials {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The client of an account. Throws TypeError where its address or key cannot be used. */
export function createServiceClient(
  credentials: ServiceCredentials,
  { readsPerSecond, ...clientOptions }: ServiceClientOptions,
  gate: ObservedKeyGate,
): ServiceClient {
  const rate = new ReadRate(readsPerSecond);
  const agent = new AgentClient({
    ...clientOptions,
    baseUrl: credentials.baseUrl,
    get apiKey() {
      return credentials.apiKey;
    },
    gate,
    beforeRead: (signal) => rate.waitForPauseEnd(signal),
    onRateLimited: (pauseMs) => rate.pauseFor(pauseMs),
  });
  return { agent, readRate: rate, gate };
}
