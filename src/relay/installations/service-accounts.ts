import type { Logger } from 'pino';
import { opensOneOf, type ProbeResult, probeAccount } from '../../agent/account-probe.ts';
import { AgentClient } from '../../agent/agent-client.ts';
import type { AgentClientOptions } from '../../agent/client-options.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
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
  /** Undefined without SECRET_KEY: what workspaces with accounts of their own ask then waits for it. */
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
  /** Or why there is none: it was deleted, or cannot be decrypted. What needs that waits, as for a key that is refused. */
  apiKey: string | AgentError;
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

  /** The client of an account. Throws AccountGone, or an AgentError if its key cannot be decrypted. */
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

  /** The read rate of an account; a new one where that is gone. Throws an AgentError if its key cannot be decrypted. */
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

  /** How many workspaces' own keys are refused, or cannot be decrypted. */
  refusedOwnKeyCount(): number {
    const isRefused = ({ row, apiKey, client }: AccountEntry) =>
      (row.retired_at === null && apiKey instanceof AgentError) || client?.gate.refusedSince !== undefined;
    return [...this.#entries.values()].filter(isRefused).length;
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
    const known = this.#entries.get(account_id);
    if (row.encrypted_api_key !== null) {
      const apiKey = this.#decryptKey(row, row.encrypted_api_key);
      const entry: AccountEntry = known ?? { row, apiKey, stopRedacting: () => undefined, client: undefined };
      if (entry.apiKey !== apiKey) entry.client?.gate.accepted();
      entry.stopRedacting();
      const stopRedacting = typeof apiKey === 'string' ? this.#deps.redactSecret(apiKey) : () => undefined;
      this.#entries.set(account_id, Object.assign(entry, { row, apiKey, stopRedacting }));
    } else if (known !== undefined) {
      known.apiKey = new AccountGone();
      known.stopRedacting();
      this.#entries.delete(account_id);
      const closing = known.client?.agent.close() ?? Promise.resolve();
      inBackground(closing, this.#deps.log, 'closing the connections of an account failed');
    }
    if (row.retired_at === null) this.#currentByWorkspace.set(workspace, account_id);
    else if (this.#currentByWorkspace.get(workspace) === account_id)
      this.#currentByWorkspace.delete(workspace);
  }

  /** The key of an account, or the error of what needs it. */
  #decryptKey({ workspace, account_id, retired_at }: AccountRow, encrypted: string): string | AgentError {
    const { keyring, log } = this.#deps;
    try {
      if (keyring === undefined) throw new DecryptionError('unknown_key');
      return keyring.decrypt(encrypted, encryptionContext.account({ workspace, account_id }));
    } catch (cause) {
      if (!(cause instanceof DecryptionError)) throw cause;
      log.error({ workspace, account: account_id, err: cause }, 'decrypting the key of an account failed');
      // Nobody decrypts it any more: what was asked there goes on as after any other change of the account.
      if (retired_at !== null) return new AccountGone();
      return new AgentError('bad_key', { sentence: cause.message, outcome: 'not_sent', cause });
    }
  }

  #findClient(account: string): ServiceClient | undefined {
    if (account === SETTINGS_ACCOUNT) return this.#defaultClient;
    const entry = this.#entries.get(account);
    if (entry === undefined) return undefined;
    entry.client ??= createServiceClient(
      {
        baseUrl: entry.row.base_url,
        // Turns may still have the client after the key is gone.
        get apiKey() {
          if (typeof entry.apiKey !== 'string') throw entry.apiKey;
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
