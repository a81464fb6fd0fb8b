import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { keyOpens, probeAccount } from '../../agent/account-probe.ts';
import { AgentError } from '../../agent/errors.ts';
import { type HomeActor, isAdminNow } from '../../relay/access/admins.ts';
import type { ServiceClientOptions, ServiceCredentials } from '../../relay/installations/service-client.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type * as strings from '../../render/strings/index.ts';
import type { Store } from '../../store/store.ts';
import { encryptionContext } from '../../store/workspaces/encryption-context.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import type { AccountSummary } from './account-view.ts';

/** What setting accounts needs. */
export interface WorkspaceAccountDeps extends Pick<RelayDeps, 'workspace'> {
  store: Pick<Store, 'accounts' | 'audit'>;
  /** Undefined where the settings have none: then no workspace can have an account of its own. */
  keyring: Keyring | undefined;
  /** Whether the settings have an account for workspaces without one. */
  hasDefaultAccount: boolean;
  clientOptions: Pick<ServiceClientOptions, 'serviceOptions' | 'allowedHosts' | 'responseLimits' | 'lookup'>;
  /** Hears of each key, so that no log shows it until the answer is called. */
  redactSecret: (secret: string) => () => void;
  /** Hears when an account was set or removed. */
  onChanged: () => Promise<void>;
  log: Logger;
}

/** What came of setting an account. */
export type AccountChangeOutcome =
  | { kind: 'set'; sameAccount: boolean }
  | {
      kind: 'refused';
      why: keyof typeof strings.account.refused;
    };

/** What may be a key. It is taken out of the log wherever it stands, so it must not be a word or a part of JSON. */
const API_KEY_PATTERN = /^(?:(?!["'`{}\\])[\x21-\x7e]){16,}$/;

/** Tasks, and projects, that are tried to see whether a key belongs to the account before. */
const MAX_PROBED_ITEMS = 3;

/** The workspace's own account at the service: set by its admins, tried before it is kept. */
export class WorkspaceAccount {
  readonly #deps: WorkspaceAccountDeps;

  constructor(deps: WorkspaceAccountDeps) {
    this.#deps = deps;
  }

  /** Whether workspaces can have an account of their own. */
  get isAvailable(): boolean {
    return this.#deps.keyring !== undefined;
  }

  /** The account, as admins see it. */
  async summary(workspace: string): Promise<AccountSummary> {
    const { store, hasDefaultAccount: shared } = this.#deps;
    const row = await store.accounts.current(workspace);
    if (row === undefined) return { kind: shared ? 'shared' : 'none' };
    const { host } = new URL(row.base_url);
    // Its key went with an uninstallation.
    if (row.sealed === null) return { kind: 'lost', host };
    return { kind: 'own', host, setBy: row.set_by, setAt: row.set_at };
  }

  /** Tries an account, and keeps it where it works. A key of the account before lets its threads go on. */
  async set(workspace: string, person: string, submitted: ServiceCredentials): Promise<AccountChangeOutcome> {
    const { keyring, redactSecret: onSecret } = this.#deps;
    const may = keyring !== undefined && (await this.#mayChange({ workspace, person }));
    if (!may) return refusal('not_admin');
    const credentials = {
      apiKey: submitted.apiKey.trim(),
      baseUrl: submitted.baseUrl.trim().replace(/\/+$/, ''),
    };
    if (!API_KEY_PATTERN.test(credentials.apiKey)) return refusal('odd_key');
    const stopRedacting = onSecret(credentials.apiKey);
    try {
      return await this.#save(keyring, workspace, person, credentials);
    } finally {
      stopRedacting();
    }
  }

  async #save(
    keyring: Keyring,
    workspace: string,
    person: string,
    credentials: ServiceCredentials,
  ): Promise<AccountChangeOutcome> {
    const { store, log, onChanged: onSet } = this.#deps;
    const probeResult = await this.#probe(workspace, credentials);
    if (probeResult !== 'good') return refusal(probeResult);
    const before = await store.accounts.current(workspace);
    const isSame =
      before?.base_url === credentials.baseUrl && (await this.#isSameAccount(before, credentials));
    const account = before !== undefined && isSame ? before.account : randomUUID();
    const sealed = keyring.encrypt(credentials.apiKey, encryptionContext.account({ workspace, account }));
    const row = { workspace, account, base_url: credentials.baseUrl, set_by: person, sealed };
    // Trying it took its time: the app may have been uninstalled meanwhile.
    if (!(await store.accounts.put(row))) return refusal('failed');
    const details = { setting: 'account', sameAccount: isSame };
    await store.audit.add({ workspace, kind: 'setting', person, details });
    log.info({ workspace, account, sameAccount: isSame }, 'the service account of a workspace was set');
    await onSet();
    return { kind: 'set', sameAccount: isSame };
  }

  /** Takes a workspace's own account away. */
  async remove(workspace: string, person: string): Promise<'done' | 'not_admin'> {
    const { store, log, onChanged: onSet } = this.#deps;
    if (!(await this.#mayChange({ workspace, person }))) return 'not_admin';
    if (await store.accounts.remove(workspace)) {
      const details = { setting: 'account', removed: true };
      await store.audit.add({ workspace, kind: 'setting', person, details });
      log.info({ workspace }, 'the service account of a workspace was removed');
      await onSet();
    }
    return 'done';
  }

  /** Whether a person may set or remove the account; whoever may not leaves a row in the trail. */
  async #mayChange(visitor: HomeActor): Promise<boolean> {
    if (await isAdminNow(this.#deps, visitor)) return true;
    const details = { control: 'account', by: 'admins', why: 'admins' };
    await this.#deps.store.audit.add({ ...visitor, kind: 'refusal', details });
    return false;
  }

  async #probe(
    workspace: string,
    credentials: ServiceCredentials,
  ): Promise<'good' | Extract<AccountChangeOutcome, { kind: 'refused' }>['why']> {
    try {
      return await probeAccount({ ...credentials, ...this.#deps.clientOptions });
    } catch (error) {
      // What an address answers is not told: somebody might ask for what lies behind our wall.
      if (error instanceof TypeError) return 'bad_address';
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.info({ workspace, code: error.code }, 'an account that was typed does not answer');
      return error.code === 'not_understood' ? 'no_service' : 'unreachable';
    }
  }

  /** Whether a key opens what the account before has made. An account that has made nothing is anybody's. */
  async #isSameAccount(
    before: { workspace: string; account: string },
    credentials: ServiceCredentials,
  ): Promise<boolean> {
    const { accounts } = this.#deps.store;
    const tasks = (await accounts.recentTaskIds(before, MAX_PROBED_ITEMS)).map((task) => ({ task }));
    const projects = (await accounts.recentProjectIds(before, MAX_PROBED_ITEMS)).map((project) => ({
      project,
    }));
    const items = [...tasks, ...projects];
    for (const one of items) {
      try {
        if (await keyOpens({ ...credentials, ...this.#deps.clientOptions }, one)) return true;
      } catch (error) {
        if (!(error instanceof AgentError)) throw error;
      }
    }
    return items.length === 0;
  }
}

function refusal(why: Extract<AccountChangeOutcome, { kind: 'refused' }>['why']): AccountChangeOutcome {
  return { kind: 'refused', why };
}
