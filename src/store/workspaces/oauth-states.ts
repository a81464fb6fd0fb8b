import { changesRow, Queries } from '../queries.ts';

/** The states of OAuth flows: each completes one installation. */
export class OAuthStates extends Queries {
  /** Marks a state as used; false if it was used before. */
  async markUsed(state: string): Promise<boolean> {
    return changesRow(
      this.db
        .insertInto('used_oauth_states')
        .values({ state })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}
