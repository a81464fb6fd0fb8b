import type { Logger } from 'pino';
import { opensOneOf, type ProbeResult, probeAccount } from '../../agent/account-probe.ts';
import { AgentClient } from '../../agent/agent-client.ts';
import type { AgentClientOptions } from '../../agent/client-options.ts';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { ResponseMemory, WORKSPACES_RESPONSE_BYTES } from '../../agent/response-limits.ts';
import { UploadMemory, WORKSPACES_UPLOAD_MEMORY_BYTES } from '../../agent/upload-parts.ts';
import type { CredentialGate } from '../../calls/credential-gate.ts';
import type { AccountRow } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { NO_ACCOUNT, SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';
import { DecryptionError, encryptionContext, type Keyring } from '../../store/workspaces/encryption.ts';
import { inBackground } from '../runtime/poller.ts';
import { ReadRate } from '../runtime/read-rate.ts';
import { RefreshedRows } from './installed-workspaces.ts';

export interface ServiceAccountsDeps {
  store: Pick<Store, 'accounts'>;
  /** Undefined without SECRET_KEY: workspaces with accounts of their own then have no account at all. */
  keyring: Keyring | undefined;
  /** The operator's account, for workspaces without one of their own. */
  defaultCredentials: ServiceCredentials | undefined;
  clientOptions: ServiceClientOptions;
  /** For workspaces' own accounts, these override `clientOptions`. */
  ownAccountOptions: Pick<ServiceClientOptions, 'allowedHosts' | 'responseLimits' | 'lookup' | 'onAttempt'>;
  /** The gate of a workspace's account; undefined: of the operator's. */
  keyGateFor: (workspace: string | undefined) => CredentialGate;
  /** Keeps a key out of the logs until the returned function is called. */
  redactSecret: (secret: string) => () => void;
  log: Logger;
}

interface AccountEntry {
  row: AccountRow;
  /** Undefined once the key is deleted. */
  apiKey: string | undefined;
  stopRedacting: () => void;
  client: ServiceClient | undefined;
}

/** The accounts at the service, by the account id of threads and projects. */
export class ServiceAccounts extends RefreshedRows<AccountRow> {
  readonly #deps: ServiceAccountsDeps;
  /** Shared by all workspaces with accounts of their own. */
  readonly #ownUploadMemory = new UploadMemory(WORKSPACES_UPLOAD_MEMORY_BYTES);
  readonly #ownResponseMemory = new ResponseMemory(WORKSPACES_RESPONSE_BYTES);
  /** Each workspace's share, for its current account and its earlier ones. */
  readonly #uploadMemoryByWorkspace = new Map<string, UploadMemory>();
  readonly #defaultClient: ServiceClient | undefined;
  readonly #entries = new Map<string, AccountEntry>();
  readonly #currentByWorkspace = new Map<string, string>();

  /** Throws TypeError if the operator's address or key is invalid. */
  constructor(deps: ServiceAccountsDeps) {
    super();
    const { defaultCredentials, clientOptions } = deps;
    this.#deps = deps;
    this.#defaultClient =
      defaultCredentials &&
      createServiceClient(defaultCredentials, clientOptions, deps.keyGateFor(undefined));
  }

  /** The account for a workspace's new threads. If its own account has lost its key, no other account replaces it. */
  currentAccount(workspace: string): string {
    const ownAccount = this.#currentByWorkspace.get(workspace);
    if (ownAccount !== undefined) return this.#entries.has(ownAccount) ? ownAccount : NO_ACCOUNT;
    return this.#defaultClient === undefined ? NO_ACCOUNT : SETTINGS_ACCOUNT;
  }

  /** The client of an account. Throws AccountGone. */
  agentClient(account: string): AgentClient {
    const client = this.#findClient(account);
    if (client === undefined) throw new AccountGone();
    return client.agent;
  }

  /** The options of the clients of a workspace's own accounts. */
  ownAccountOptions(workspace: string): ServiceClientOptions {
    const uploadMemory = this.#uploadMemoryByWorkspace.get(workspace) ?? this.#ownUploadMemory.share();
    this.#uploadMemoryByWorkspace.set(workspace, uploadMemory);
    const responseMemory = { memory: this.#ownResponseMemory, owner: workspace };
    return { ...this.#deps.clientOptions, ...this.#deps.ownAccountOptions, uploadMemory, responseMemory };
  }

  /** The read rate of an account. Where the account is gone and nothing can be read, a new one. */
  readRate(account: string): ReadRate {
    return this.#findClient(account)?.readRate ?? new ReadRate(1);
  }

  /** Tries the operator's address and key with calls that change nothing; undefined without them. Throws AgentError. */
  async probeDefault(signal: AbortSignal): Promise<ProbeResult | undefined> {
    const { defaultCredentials, clientOptions } = this.#deps;
    if (defaultCredentials === undefined || this.#defaultClient === undefined) return undefined;
    const { onAttempt, ...options } = clientOptions;
    const own = { gate: this.#defaultClient.gate, onAttempt };
    return probeAccount({ ...options, ...defaultCredentials, signal }, own);
  }

  /** Since when the operator's key is refused. */
  keyRefusedSince(): Date | undefined {
    return this.#defaultClient?.gate.refusedSince;
  }

  /** How many workspaces' own keys are refused. */
  refusedOwnKeyCount(): number {
    return [...this.#entries.values()].filter(({ client }) => client?.gate.refusedSince !== undefined).length;
  }

  async close(): Promise<void> {
    await this.#defaultClient?.agent.close();
    for (const { client } of this.#entries.values()) await client?.agent.close();
  }

  protected changedSince(sequence: number): Promise<AccountRow[]> {
    return this.#deps.store.accounts.changedSince(sequence);
  }

  protected async forgetDeleted(): Promise<void> {
    const present = new Set(await this.#deps.store.accounts.ids());
    for (const { row } of this.#entries.values())
      if (!present.has(row.account_id))
        this.apply({ ...row, encrypted_api_key: null, retired_at: new Date() });
  }

  protected apply(row: AccountRow): void {
    const { workspace, account_id } = row;
    const apiKey = this.#decryptKey(row);
    const known = this.#entries.get(account_id);
    if (apiKey !== undefined && known !== undefined) {
      if (known.apiKey !== apiKey) {
        known.client?.gate.accepted();
        known.stopRedacting();
        known.stopRedacting = this.#deps.redactSecret(apiKey);
      }
      Object.assign(known, { row, apiKey });
    } else if (apiKey !== undefined) {
      this.#entries.set(account_id, {
        row,
        apiKey,
        stopRedacting: this.#deps.redactSecret(apiKey),
        client: undefined,
      });
    } else if (known !== undefined) {
      known.apiKey = undefined;
      known.stopRedacting();
      this.#entries.delete(account_id);
      const closing = known.client?.agent.close() ?? Promise.resolve();
      inBackground(closing, this.#deps.log, 'closing the connections of an account failed');
    }
    if (row.retired_at === null) this.#currentByWorkspace.set(workspace, account_id);
    else if (this.#currentByWorkspace.get(workspace) === account_id)
      this.#currentByWorkspace.delete(workspace);
  }

  #decryptKey({ workspace, account_id, encrypted_api_key }: AccountRow): string | undefined {
    const { keyring, log } = this.#deps;
    if (encrypted_api_key === null) return undefined;
    if (keyring === undefined) {
      log.error({ workspace, account: account_id }, 'SECRET_KEY is needed to decrypt the key of an account');
      return undefined;
    }
    try {
      return keyring.decrypt(encrypted_api_key, encryptionContext.account({ workspace, account_id }));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      log.error({ workspace, account: account_id, err: error }, 'decrypting the key of an account failed');
      return undefined;
    }
  }

  #findClient(account: string): ServiceClient | undefined {
    if (account === SETTINGS_ACCOUNT) return this.#defaultClient;
    const entry = this.#entries.get(account);
    if (entry === undefined) return undefined;
    entry.client ??= createServiceClient(
      {
        baseUrl: entry.row.base_url,
        // Turns may still have the client after the key was deleted.
        get apiKey() {
          if (entry.apiKey === undefined) throw new AccountGone();
          return entry.apiKey;
        },
      },
      this.ownAccountOptions(entry.row.workspace),
      this.#deps.keyGateFor(entry.row.workspace),
    );
    return entry.client;
  }
}

export interface ServiceClientOptions
  extends Omit<AgentClientOptions, 'baseUrl' | 'apiKey' | 'gate' | 'beforeRead' | 'onRateLimited'> {
  readsPerSecond: number;
  readIntervalMs?: number;
}

type ServiceClient = ReturnType<typeof createServiceClient>;

/** An account's address and key. The key is read before each call. */
export type ServiceCredentials = Pick<AgentClientOptions, 'baseUrl' | 'apiKey'>;

/** Most tasks, and most projects, that are read to see whether a key belongs to an account. */
const MAX_PROBED_ITEMS = 3;

/** Whether credentials are those of an account: its address, and a key that reads one of its latest tasks and projects. */
export async function isSameAccount(
  { accounts }: Pick<Store, 'accounts'>,
  account: AccountRow,
  credentials: ServiceCredentials,
  options: ServiceClientOptions,
): Promise<boolean> {
  if (account.base_url !== credentials.baseUrl) return false;
  return opensOneOf({ ...credentials, ...options }, await accounts.recentItems(account, MAX_PROBED_ITEMS));
}

/** The client of an account. Throws TypeError if its address or key is invalid. */
function createServiceClient(
  credentials: ServiceCredentials,
  { readsPerSecond, readIntervalMs, ...clientOptions }: ServiceClientOptions,
  gate: CredentialGate,
) {
  const readRate = new ReadRate(readsPerSecond, readIntervalMs);
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

/** The account of a thread is gone: its tasks and files cannot be reached. */
export class AccountGone extends AgentNotFoundError {
  constructor() {
    super({
      sentence: 'The workspace now uses another account at the agent service; start a new thread.',
      outcome: 'not_sent',
    });
  }
}
