import type { Kysely } from 'kysely';
import type { Tables } from '../../../../src/store/schema.ts';
import { Store } from '../../../../src/store/store.ts';
import { Turns } from '../../../../src/store/threads/turns.ts';
import { startBroken } from './start.ts';

/** Takes every message at the service for another turn's, so that none is adopted after a lost answer. */
class JealousTurns extends Turns {
  override async isUserMessageBound(): Promise<boolean> {
    return true;
  }
}

class BrokenStore extends Store {
  override readonly turns: Turns;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.turns = new JealousTurns(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
