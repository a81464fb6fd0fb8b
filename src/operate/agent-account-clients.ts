import { AgentClient } from '../agent/agent-client.ts';
import { AgentNotFoundError } from '../agent/errors.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { StartedTask } from '../store/tasks/task-records.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import { encryptionContext } from '../store/workspaces/encryption-context.ts';
import { Keyring } from '../store/workspaces/keyring.ts';

/** The clients of the service accounts that an operator's command needs. */
export class AgentAccountClients {
  readonly #config: Config;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #clients = new Map<string, AgentClient>();

  constructor(config: Config, store: Pick<Store, 'accounts'>) {
    this.#config = config;
    this.#store = store;
  }

  /** Deletes a task at the service; one that is gone already is fine. Throws AgentError, and Error without the account's key. */
  async deleteTask(workspace: string, { account, task }: StartedTask): Promise<void> {
    const agent = this.#clients.get(account) ?? (await this.#openClient(workspace, account));
    this.#clients.set(account, agent);
    try {
      await agent.deleteTask(task);
    } catch (error) {
      if (!(error instanceof AgentNotFoundError)) throw error;
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#clients.values()) await agent.close();
  }

  async #openClient(workspace: string, account: string): Promise<AgentClient> {
    const { AGENT_DIALECT: dialect, PRIVATE_HOSTS, ACCOUNT_HOSTS } = this.#config;
    const own = await this.#ownCredentials(workspace, account);
    const credentials = own ?? this.#sharedCredentials(account);
    if (credentials === undefined)
      throw new Error(`The key of the account ${account} is gone: its tasks must be deleted at the service.`);
    const allowedHosts = own === undefined ? PRIVATE_HOSTS : ACCOUNT_HOSTS;
    return new AgentClient({ ...credentials, serviceOptions: dialect, allowedHosts });
  }

  #sharedCredentials(account: string): { baseUrl: string; apiKey: string } | undefined {
    const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = this.#config;
    if (account !== SETTINGS_ACCOUNT || baseUrl === undefined || apiKey === undefined) return undefined;
    return { baseUrl, apiKey };
  }

  async #ownCredentials(
    workspace: string,
    account: string,
  ): Promise<{ baseUrl: string; apiKey: string } | undefined> {
    const { SECRET_KEY } = this.#config;
    const row = await this.#store.accounts.get({ workspace, account });
    if (row?.sealed == null || SECRET_KEY === undefined) return undefined;
    const apiKey = new Keyring(SECRET_KEY).decrypt(row.sealed, encryptionContext.account(row));
    return { baseUrl: row.base_url, apiKey };
  }
}
