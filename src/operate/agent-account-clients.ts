import { AgentClient } from '../agent/agent-client.ts';
import { AgentNotFoundError } from '../agent/errors.ts';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { StartedTask } from '../store/tasks/task-records.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import { encryptionContext, Keyring } from '../store/workspaces/keyring.ts';

/** Service clients for an operator's command, one per account. */
export class AgentAccountClients {
  readonly #config: Config;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #clients = new Map<string, AgentClient>();

  constructor(config: Config, store: Pick<Store, 'accounts'>) {
    this.#config = config;
    this.#store = store;
  }

  /** Deletes a task at the service, if it still exists. Throws an AgentError, and an Error if the account's key is gone. */
  async deleteTask(workspace: string, { account_id, task_id }: StartedTask): Promise<void> {
    const agent = this.#clients.get(account_id) ?? (await this.#openClient(workspace, account_id));
    this.#clients.set(account_id, agent);
    try {
      await agent.deleteTask(task_id);
    } catch (error) {
      if (!(error instanceof AgentNotFoundError)) throw error;
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#clients.values()) await agent.close();
  }

  async #openClient(workspace: string, account: string): Promise<AgentClient> {
    const { AGENT_DIALECT: serviceOptions, PRIVATE_HOSTS, ACCOUNT_HOSTS, SECRET_KEY } = this.#config;
    const row = await this.#store.accounts.get({ workspace, account_id: account });
    if (row?.encrypted_api_key != null && SECRET_KEY !== undefined) {
      const apiKey = new Keyring(SECRET_KEY).decrypt(row.encrypted_api_key, encryptionContext.account(row));
      return new AgentClient({ baseUrl: row.base_url, apiKey, serviceOptions, allowedHosts: ACCOUNT_HOSTS });
    }
    const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = this.#config;
    if (account !== SETTINGS_ACCOUNT || baseUrl === undefined || apiKey === undefined)
      throw new Error(`The key of the account ${account} is gone. Delete its tasks at the service.`);
    return new AgentClient({ baseUrl, apiKey, serviceOptions, allowedHosts: PRIVATE_HOSTS });
  }
}
