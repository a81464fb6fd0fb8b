import { AgentClient } from '../../agent/agent-client.ts';
import type { AgentClientOptions } from '../../agent/client-options.ts';
import { ReadRate } from '../runtime/read-rate.ts';
import type { CredentialStatus } from './credential-status.ts';

export interface ServiceClientOptions
  extends Omit<AgentClientOptions, 'baseUrl' | 'apiKey' | 'gate' | 'beforeRead' | 'onRateLimited'> {
  readsPerSecond: number;
}

export interface ServiceClient {
  readonly agent: AgentClient;
  readonly readRate: ReadRate;
  readonly gate: CredentialStatus;
}

/** An account's address and key. The key is read before each call. */
export interface ServiceCredentials {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The client of an account. Throws TypeError if its address or key is invalid. */
export function createServiceClient(
  credentials: ServiceCredentials,
  { readsPerSecond, ...clientOptions }: ServiceClientOptions,
  gate: CredentialStatus,
): ServiceClient {
  const readRate = new ReadRate(readsPerSecond);
  const agent = new AgentClient({
    ...clientOptions,
    baseUrl: credentials.baseUrl,
    get apiKey() {
      return credentials.apiKey;
    },
    gate,
    beforeRead: (signal) => readRate.waitForPauseEnd(signal),
    onRateLimited: (pauseMs) => readRate.pauseFor(pauseMs),
  });
  return { agent, readRate, gate };
}
