import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AgentError } from '../../agent/errors.ts';
import { opens, probe } from '../../agent/probe.ts';
import type { ShownAccount } from '../../reply/views/account-view.ts';
import type * as words from '../../reply/words.ts';
import type { Keyring } from '../../store/keyring.ts';
import { sealedPlaces } from '../../store/sealed-places.ts';
import type { Store } from '../../store/store.ts';
import { isAdminNow, type Visitor } from '../admins.ts';
import type { RelayParts } from '../context.ts';
import type { Credentials, ServiceOptions } from './service.ts';

/** What setting accounts needs. */
export interface SettingParts extends Pick<RelayParts, 'workspace'> {
  store: Pick<Store, 'accounts' | 'audit'>;
  /** Undefined where the settings have none: then no workspace can have an account of its own. */
  keyring: Keyring | undefined;
  /** Whether the settings have an account for workspaces without one. */
  shared: boolean;
  options: Pick<ServiceOptions, 'dialect' | 'allowedHosts' | 'bounds' | 'lookup'>;
  /** Hears of each key, so that no log shows it until the answer is called. */
  onSecret: (secret: string) => () => void;
  /** Hears when an account was set or removed. */
  onSet: () => Promise<void>;
  log: Logger;
}

/** What came of setting an account. */
export type Setting =
  | { kind: 'set'; sameAccount: boolean }
  | {
      kind: 'refused';
      why: keyof typeof words.account.refused;
    };

/** What may be a key. It is taken out of the log wherever it stands, so it must not be a word or a part of JSON. */
const keyShape = /^(?:(?!["'`{}\\])[\x21-\x7e]){16,}$/;

/** Tasks, and projects, that are tried to see whether a key belongs to the account before. */
const mostTried = 3;

/** The workspace's own account at the service: set by its admins, tried before it is kept. */
export class AccountSetting {
  readonly #parts: SettingParts;

  constructor(parts: SettingParts) {
    this.#parts = parts;
  }

  /** Whether workspaces can have an account of their own. */
  get offered(): boolean {
    return this.#parts.keyring !== undefined;
  }

  /** The account, as admins see it. */
  async shown(workspace: string): Promise<ShownAccount> {
    const { store, shared } = this.#parts;
    const row = await store.accounts.current(workspace);
    if (row === undefined) return { kind: shared ? 'shared' : 'none' };
    const { host } = new URL(row.base_url);
    // Its key went with an uninstallation.
    if (row.sealed === null) return { kind: 'lost', host };
    return { kind: 'own', host, setBy: row.set_by, setAt: row.set_at };
  }

  /** Tries an account, and keeps it where it works. A key of the account before lets its threads go on. */
  async set(workspace: string, person: string, typed: Credentials): Promise<Setting> {
    const { keyring, onSecret } = this.#parts;
    const may = keyring !== undefined && (await this.#may({ workspace, person }));
    if (!may) return refused('not_admin');
    const credentials = { apiKey: typed.apiKey.trim(), baseUrl: typed.baseUrl.trim().replace(/\/+$/, '') };
    if (!keyShape.test(credentials.apiKey)) return refused('odd_key');
    const forget = onSecret(credentials.apiKey);
    try {
      return await this.#keep(keyring, workspace, person, credentials);
    } finally {
      forget();
    }
  }

  async #keep(
    keyring: Keyring,
    workspace: string,
    person: string,
    credentials: Credentials,
  ): Promise<Setting> {
    const { store, log, onSet } = this.#parts;
    const tried = await this.#tried(workspace, credentials);
    if (tried !== 'good') return refused(tried);
    const before = await store.accounts.current(workspace);
    const same = before?.base_url === credentials.baseUrl && (await this.#isSame(before, credentials));
    const account = before !== undefined && same ? before.account : randomUUID();
    const sealed = keyring.seal(credentials.apiKey, sealedPlaces.account({ workspace, account }));
    const row = { workspace, account, base_url: credentials.baseUrl, set_by: person, sealed };
    // Trying it took its time: the app may have been uninstalled meanwhile.
    if (!(await store.accounts.put(row))) return refused('failed');
    const details = { setting: 'account', sameAccount: same };
    await store.audit.add({ workspace, kind: 'setting', person, details });
    log.info({ workspace, account, sameAccount: same }, 'the service account of a workspace was set');
    await onSet();
    return { kind: 'set', sameAccount: same };
  }

  /** Takes a workspace's own account away. */
  async remove(workspace: string, person: string): Promise<'done' | 'not_admin'> {
    const { store, log, onSet } = this.#parts;
    if (!(await this.#may({ workspace, person }))) return 'not_admin';
    if (await store.accounts.remove(workspace)) {
      const details = { setting: 'account', removed: true };
      await store.audit.add({ workspace, kind: 'setting', person, details });
      log.info({ workspace }, 'the service account of a workspace was removed');
      await onSet();
    }
    return 'done';
  }

  /** Whether a person may set or remove the account; whoever may not leaves a row in the trail. */
  async #may(visitor: Visitor): Promise<boolean> {
    if (await isAdminNow(this.#parts, visitor)) return true;
    const details = { control: 'account', by: 'admins', why: 'admins' };
    await this.#parts.store.audit.add({ ...visitor, kind: 'refusal', details });
    return false;
  }

  async #tried(
    workspace: string,
    credentials: Credentials,
  ): Promise<'good' | Extract<Setting, { kind: 'refused' }>['why']> {
    try {
      return await probe({ ...credentials, ...this.#parts.options });
    } catch (error) {
      // What an address answers is not told: somebody might ask for what lies behind our wall.
      if (error instanceof TypeError) return 'bad_address';
      if (!(error instanceof AgentError)) throw error;
      this.#parts.log.info({ workspace, code: error.code }, 'an account that was typed does not answer');
      return error.code === 'not_understood' ? 'no_service' : 'unreachable';
    }
  }

  /** Whether a key opens what the account before has made. An account that has made nothing is anybody's. */
  async #isSame(before: { workspace: string; account: string }, credentials: Credentials): Promise<boolean> {
    const { accounts } = this.#parts.store;
    const tasks = (await accounts.tasksOf(before, mostTried)).map((task) => ({ task }));
    const projects = (await accounts.projectsOf(before, mostTried)).map((project) => ({ project }));
    const made = [...tasks, ...projects];
    for (const one of made) {
      try {
        if (await opens({ ...credentials, ...this.#parts.options }, one)) return true;
      } catch (error) {
        if (!(error instanceof AgentError)) throw error;
      }
    }
    return made.length === 0;
  }
}

function refused(why: Extract<Setting, { kind: 'refused' }>['why']): Setting {
  return { kind: 'refused', why };
}
