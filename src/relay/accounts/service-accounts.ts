import type { Logger } from 'pino';
import type { AgentClient } from '../../agent/client.ts';
import { ownPartMemoryBytes, PartMemory, PartShare, partMemoryBytes } from '../../agent/part-memory.ts';
import { noAccount, settingsAccount } from '../../store/accounts.ts';
import { type Keyring, SealError } from '../../store/keyring.ts';
import { sealedPlaces } from '../../store/sealed-places.ts';
import type { Store } from '../../store/store.ts';
import type { AccountRow } from '../../store/tables-workspaces.ts';
import { ReadRate } from '../showing/read-rate.ts';
import { type Credentials, type KeyGate, openService, type Service, type ServiceOptions } from './service.ts';
import { AccountGone } from './standing.ts';

/** What knowing the accounts needs. */
export interface AccountsParts {
  store: Pick<Store, 'accounts'>;
  /** Undefined where the settings have no key: then workspaces' own accounts cannot be used, and no other takes their place. */
  keyring: Keyring | undefined;
  /** The account of the settings, for workspaces without one of their own. */
  shared: Credentials | undefined;
  options: ServiceOptions;
  /** For workspaces' own accounts, in place of the settings' `options`: whom they may ask, what they may answer, and who hears of it. */
  own: Pick<ServiceOptions, 'allowedHosts' | 'bounds' | 'lookup' | 'onTry'>;
  /** A gate for the account of a workspace, or of the settings. */
  gateOf: (workspace: string | undefined) => KeyGate;
  /** Hears of each key, so that no log shows it until the answer is called. */
  onSecret: (secret: string) => () => void;
  log: Logger;
}

/** An account as this process knows it. */
interface Entry {
  row: AccountRow;
  /** Undefined once the key is gone. */
  apiKey: string | undefined;
  /** The log may show the key again. */
  forget: () => void;
  service: Service | undefined;
}

/** The accounts at the service, by the id that threads and projects carry. */
export class ServiceAccounts {
  readonly #parts: AccountsParts;
  /** However many workspaces have accounts of their own, their uploads hold no more memory than this. */
  readonly #ownMemory = new PartMemory(ownPartMemoryBytes);
  readonly #shared: Service | undefined;
  readonly #entries = new Map<string, Entry>();
  /** The account in use, by workspace. */
  readonly #current = new Map<string, string>();
  #version = 0;
  #reading: Promise<void> | undefined;

  /** Throws TypeError where the address or the key of the settings cannot be used. */
  constructor(parts: AccountsParts) {
    const { shared, options } = parts;
    const partMemory = options.partMemory ?? new PartMemory(partMemoryBytes);
    this.#parts = parts;
    this.#shared = shared && openService(shared, { ...options, partMemory }, parts.gateOf(undefined));
  }

  /** The account that a workspace's new threads go to. Where its own has no key any more, no other takes its place. */
  current(workspace: string): string {
    const own = this.#current.get(workspace);
    if (own !== undefined) return this.#entries.has(own) ? own : noAccount;
    return this.#shared === undefined ? noAccount : settingsAccount;
  }

  /** The client of an account. Throws AccountGone. */
  agent(account: string): AgentClient {
    return this.#service(account).agent;
  }

  /** The read rate of an account; one of its own where the account is gone, and nothing can be read. */
  rate(account: string): ReadRate {
    const known = (account === settingsAccount && this.#shared !== undefined) || this.#entries.has(account);
    return known ? this.#service(account).rate : new ReadRate(1);
  }

  /** Since when the key of the settings is refused. */
  refusedSince(): Date | undefined {
    return this.#shared?.gate.refusedSince;
  }

  /** How many workspaces' own keys are refused. */
  ownRefused(): number {
    return [...this.#entries.values()].filter(({ service }) => service?.gate.refusedSince !== undefined)
      .length;
  }

  /** Reads what has changed since the last time; `whole` also notices rows that were deleted. Throws StoreError. */
  async refresh(whole = false): Promise<void> {
    await this.#reading?.catch(() => undefined);
    this.#reading ??= this.#read(whole).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async close(): Promise<void> {
    await this.#shared?.agent.close();
    for (const { service } of this.#entries.values()) await service?.agent.close();
  }

  async #read(whole: boolean): Promise<void> {
    const rows = await this.#parts.store.accounts.changedSince(whole ? 0 : this.#version);
    // One that takes another's place comes after it.
    rows.sort((a, b) => a.version - b.version);
    for (const row of rows) this.#take(row);
    if (!whole) return;
    const there = new Set(rows.map(({ account }) => account));
    for (const { row } of this.#entries.values()) {
      if (!there.has(row.account)) this.#take({ ...row, sealed: null, retired_at: new Date() });
    }
  }

  #take(row: AccountRow): void {
    this.#version = Math.max(this.#version, row.version);
    const { workspace, account } = row;
    const apiKey = this.#open(row);
    const known = this.#entries.get(account);
    if (apiKey !== undefined && known !== undefined) {
      if (known.apiKey !== apiKey) {
        known.service?.gate.accepted();
        known.forget();
        known.forget = this.#parts.onSecret(apiKey);
      }
      Object.assign(known, { row, apiKey });
    } else if (apiKey !== undefined) {
      this.#entries.set(account, { row, apiKey, forget: this.#parts.onSecret(apiKey), service: undefined });
    } else if (known !== undefined) {
      known.apiKey = undefined;
      known.forget();
      this.#entries.delete(account);
      known.service?.agent.close().catch((error: unknown) => {
        this.#parts.log.debug({ account, err: error }, 'the connections of an account could not be closed');
      });
    }
    if (row.retired_at === null) this.#current.set(workspace, account);
    else if (this.#current.get(workspace) === account) this.#current.delete(workspace);
  }

  #open({ workspace, account, sealed }: AccountRow): string | undefined {
    const { keyring, log } = this.#parts;
    if (sealed === null) return undefined;
    if (keyring === undefined) {
      log.error({ workspace, account }, 'the key of an account cannot be read without SECRET_KEY');
      return undefined;
    }
    try {
      return keyring.open(sealed, sealedPlaces.account({ workspace, account }));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log.error({ workspace, account, err: error }, 'the key of an account cannot be read');
      return undefined;
    }
  }

  #service(account: string): Service {
    if (account === settingsAccount && this.#shared !== undefined) return this.#shared;
    const entry = this.#entries.get(account);
    if (entry === undefined) throw new AccountGone();
    entry.service ??= openService(
      {
        baseUrl: entry.row.base_url,
        get apiKey() {
          return keyOf(entry);
        },
      },
      { ...this.#parts.options, ...this.#parts.own, partMemory: new PartShare(this.#ownMemory) },
      gateOf(entry, this.#parts.gateOf(entry.row.workspace)),
    );
    return entry.service;
  }
}

function keyOf({ apiKey }: Entry): string {
  if (apiKey === undefined) throw new AccountGone();
  return apiKey;
}

/** Lets nothing through once the key is gone: turns that still hold the client end with that. */
function gateOf(entry: Entry, gate: KeyGate): KeyGate {
  return {
    enter: () => {
      keyOf(entry);
      gate.enter();
    },
    refused: (error) => gate.refused(error),
    accepted: () => gate.accepted(),
    get refusedSince() {
      return gate.refusedSince;
    },
  };
}
