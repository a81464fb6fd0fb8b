import type { Installation } from '../../slack/client.ts';
import type { Workspace } from '../context.ts';
import type { ObservedGate } from '../workspaces.ts';
import type { Authorization, Installed, Whereabouts } from './installed.ts';

/** The one workspace whose token stands in the settings. */
export class OneWorkspace implements Installed {
  readonly #installation: Installation;
  readonly #workspace: Workspace;
  readonly #gate: ObservedGate;

  constructor(installation: Installation, workspace: Workspace, gate: ObservedGate) {
    this.#installation = installation;
    this.#workspace = workspace;
    this.#gate = gate;
  }

  ids(): readonly string[] {
    return [this.#installation.workspace];
  }

  workspace(id: string): Workspace | undefined {
    return id === this.#installation.workspace ? this.#workspace : undefined;
  }

  async find({ workspace }: Whereabouts): Promise<Workspace | undefined> {
    return this.workspace(workspace);
  }

  async authorization(): Promise<Authorization> {
    const { token, botUser, botId, workspace } = this.#installation;
    return { botToken: token, botUserId: botUser, botId, teamId: workspace };
  }

  refusedSince(): Date | undefined {
    return this.#gate.refusedSince;
  }

  ownRefused(): number {
    return 0;
  }
}
