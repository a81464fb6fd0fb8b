import type { Installation } from '../../slack/installation.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import type { ObservedGate } from './observed-gate.ts';
import type { BotAuthorization, InstallationQuery, WorkspaceRegistry } from './workspace-registry.ts';

/** The one workspace whose token is in the settings. */
export class SingleWorkspace implements WorkspaceRegistry {
  readonly #installation: Installation;
  readonly #workspace: WorkspaceClient;
  readonly #gate: ObservedGate;

  constructor(installation: Installation, workspace: WorkspaceClient, gate: ObservedGate) {
    this.#installation = installation;
    this.#workspace = workspace;
    this.#gate = gate;
  }

  ids(): readonly string[] {
    return [this.#installation.workspace];
  }

  workspace(id: string): WorkspaceClient | undefined {
    return id === this.#installation.workspace ? this.#workspace : undefined;
  }

  async find({ workspace }: InstallationQuery): Promise<WorkspaceClient | undefined> {
    return this.workspace(workspace);
  }

  async authorization(): Promise<BotAuthorization> {
    const { token, botUser, botId, workspace } = this.#installation;
    return { botToken: token, botUserId: botUser, botId, teamId: workspace };
  }

  tokenRefusedSince(): Date | undefined {
    return this.#gate.refusedSince;
  }

  refusedOwnTokenCount(): number {
    return 0;
  }
}
