import type { Logger } from 'pino';
import type { AgentClient } from '../../agent/agent-client.ts';
import {
  OPERATOR_UPLOAD_MEMORY_BYTES,
  SharedUploadMemory,
  UploadMemoryShare,
  WORKSPACES_UPLOAD_MEMORY_BYTES,
} from '../../agent/upload-memory.ts';
import type { AccountRow } from '../../store/schema/workspace-tables.ts';
import type { Store } from '../../store/store.ts';
import { NO_ACCOUNT, SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';
import { encryptionContext } from '../../store/workspaces/encryption-context.ts';
import { DecryptionError, type Keyring } from '../../store/workspaces/keyring.ts';
import { ReadRate } from '../runtime/read-rate.ts';
import { AccountGone } from './account-check.ts';
import {
  createServiceClient,
  type ObservedKeyGate,
  type ServiceClient,
  type ServiceClientOptions,
  type ServiceCredentials,
} from './service-client.ts';

/** What knowing the accounts needs. */
export interface ServiceAccountsDeps {
  store: Pick<Store, 'accounts'>;
  /** Undefined where the settings have no key: then workspaces' own accounts cannot be used, and no other takes their place. */
  keyring: Keyring | undefined;
  /** The account of the settings, for workspaces without one of their own. */
  defaultCredentials: ServiceCredentials | undefined;
  clientOptions: ServiceClientOptions;
  /** For workspaces' own accounts, in place of the settings' `options`: whom they may ask, what they may answer, and who hears of it. */
  ownAccountOptions: Pick<ServiceClientOptions, 'allowedHosts' | 'responseLimits' | 'lookup' | 'onTry'>;
  /** A gate for the account of a workspace, or of the settings. */
  keyGateFor: (workspace: string | undefined) => ObservedKeyGate;
  /** Hears of each key, so that no log shows it until the answer is called. */
  redactSecret: (secret: string) => () => void;
  log: Logger;
}

/** An account as this process knows it. */
interface AccountEntry {
  row: AccountRow;
  /** Undefined once the key is gone. */
  apiKey: string | undefined;
  /** The log may show the key again. */
  stopRedacting: () => void;
  client: ServiceClient | undefined;
}

/** The accounts at the service, by the id that threads and projects carry. */
export class ServiceAccounts {
  readonly #deps: ServiceAccountsDeps;
  /** However many workspaces have accounts of their own, their uploads hold no more memory than this. */
  readonly #ownUploadMemory = new SharedUploadMemory(WORKSPACES_UPLOAD_MEMORY_BYTES);
  readonly #defaultClient: ServiceClient | undefined;
  readonly #entries = new Map<string, AccountEntry>();
  /** The account in use, by workspace. */
  readonly #currentByWorkspace = new Map<string, string>();
  #lastSequence = 0;
  #refreshing: Promise<void> | undefined;

  /** Throws TypeError where the address or the key of the settings cannot be used. */
  constructor(deps: ServiceAccountsDeps) {
    const { defaultCredentials: shared, clientOptions: options } = deps;
    const partMemory = options.uploadMemory ?? new SharedUploadMemory(OPERATOR_UPLOAD_MEMORY_BYTES);
    this.#deps = deps;
    this.#defaultClient =
      shared &&
      createServiceClient(shared, { ...options, uploadMemory: partMemory }, deps.keyGateFor(undefined));
  }

  /** The account that a workspace's new threads go to. Where its own has no key any more, no other takes its place. */
  currentAccount(workspace: string): string {
    const ownAccount = this.#currentByWorkspace.get(workspace);
    if (ownAccount !== undefined) return this.#entries.has(ownAccount) ? ownAccount : NO_ACCOUNT;
    return this.#defaultClient === undefined ? NO_ACCOUNT : SETTINGS_ACCOUNT;
  }

  /** The client of an account. Throws AccountGone. */
  agentClient(account: string): AgentClient {
    return this.#clientOf(account).agent;
  }

  /** The read rate of an account; one of its own where the account is gone, and nothing can be read. */
  readRate(account: string): ReadRate {
    const isKnown =
      (account === SETTINGS_ACCOUNT && this.#defaultClient !== undefined) || this.#entries.has(account);
    return isKnown ? this.#clientOf(account).readRate : new ReadRate(1);
  }

  /** Since when the key of the settings is refused. */
  keyRefusedSince(): Date | undefined {
    return this.#defaultClient?.gate.refusedSince;
  }

  /** How many workspaces' own keys are refused. */
  refusedOwnKeyCount(): number {
    return [...this.#entries.values()].filter(
      ({ client: service }) => service?.gate.refusedSince !== undefined,
    ).length;
  }

  /** Reads what has changed since the last time; `whole` also notices rows that were deleted. Throws StoreError. */
  async refresh(isFull = false): Promise<void> {
    await this.#refreshing?.catch(() => undefined);
    this.#refreshing ??= this.#load(isFull).finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async close(): Promise<void> {
    await this.#defaultClient?.agent.close();
    for (const { client: service } of this.#entries.values()) await service?.agent.close();
  }

  async #load(isFull: boolean): Promise<void> {
    const rows = await this.#deps.store.accounts.changedSince(isFull ? 0 : this.#lastSequence);
    // One that takes another's place comes after it.
    rows.sort((a, b) => a.version - b.version);
    for (const row of rows) this.#apply(row);
    if (!isFull) return;
    const present = new Set(rows.map(({ account }) => account));
    for (const { row } of this.#entries.values()) {
      if (!present.has(row.account)) this.#apply({ ...row, sealed: null, retired_at: new Date() });
    }
  }

  #apply(row: AccountRow): void {
    this.#lastSequence = Math.max(this.#lastSequence, row.version);
    const { workspace, account } = row;
    const apiKey = this.#decryptKey(row);
    const known = this.#entries.get(account);
    if (apiKey !== undefined && known !== undefined) {
      if (known.apiKey !== apiKey) {
        known.client?.gate.accepted();
        known.stopRedacting();
        known.stopRedacting = this.#deps.redactSecret(apiKey);
      }
      Object.assign(known, { row, apiKey });
    } else if (apiKey !== undefined) {
      this.#entries.set(account, {
        row,
        apiKey,
        stopRedacting: this.#deps.redactSecret(apiKey),
        client: undefined,
      });
    } else if (known !== undefined) {
      known.apiKey = undefined;
      known.stopRedacting();
      this.#entries.delete(account);
      known.client?.agent.close().catch((error: unknown) => {
        this.#deps.log.debug({ account, err: error }, 'the connections of an account could not be closed');
      });
    }
    if (row.retired_at === null) this.#currentByWorkspace.set(workspace, account);
    else if (this.#currentByWorkspace.get(workspace) === account) this.#currentByWorkspace.delete(workspace);
  }

  #decryptKey({ workspace, account, sealed }: AccountRow): string | undefined {
    const { keyring, log } = this.#deps;
    if (sealed === null) return undefined;
    if (keyring === undefined) {
      log.error({ workspace, account }, 'the key of an account cannot be read without SECRET_KEY');
      return undefined;
    }
    try {
      return keyring.decrypt(sealed, encryptionContext.account({ workspace, account }));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      log.error({ workspace, account, err: error }, 'the key of an account cannot be read');
      return undefined;
    }
  }

  #clientOf(account: string): ServiceClient {
    if (account === SETTINGS_ACCOUNT && this.#defaultClient !== undefined) return this.#defaultClient;
    const entry = this.#entries.get(account);
    if (entry === undefined) throw new AccountGone();
    entry.client ??= createServiceClient(
      {
        baseUrl: entry.row.base_url,
        get apiKey() {
          return requireKey(entry);
        },
      },
      {
        ...this.#deps.clientOptions,
        ...this.#deps.ownAccountOptions,
        uploadMemory: new UploadMemoryShare(this.#ownUploadMemory),
      },
      gateWhileKeyExists(entry, this.#deps.keyGateFor(entry.row.workspace)),
    );
    return entry.client;
  }
}

function requireKey({ apiKey }: AccountEntry): string {
  if (apiKey === undefined) throw new AccountGone();
  return apiKey;
}

/** Lets nothing through once the key is gone: turns that still hold the client end with that. */
function gateWhileKeyExists(entry: AccountEntry, gate: ObservedKeyGate): ObservedKeyGate {
  return {
    enter: () => {
      requireKey(entry);
      gate.enter();
    },
    refused: (error) => gate.refused(error),
    accepted: () => gate.accepted(),
    get refusedSince() {
      return gate.refusedSince;
    },
  };
}
