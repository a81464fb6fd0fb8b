import type { Kysely } from 'kysely';
import type { Tables } from '../../../../src/store/schema.ts';
import { Store } from '../../../../src/store/store.ts';
import { Turns } from '../../../../src/store/threads/turns.ts';
import { startBroken } from './start.ts';

/** Does not write down that a message is about to be sent. */
class ForgetfulTurns extends Turns {
  override async freeze(
    ...[turn, message, content, more]: Parameters<Turns['freeze']>
  ): ReturnType<Turns['freeze']> {
    const frozen = await super.freeze(turn, message, { ...content, send_intended_at: null }, more);
    return frozen && { ...frozen, send_intended_at: new Date() };
  }

  override async intendToSend(
    ...[turn, values]: Parameters<Turns['intendToSend']>
  ): ReturnType<Turns['intendToSend']> {
    return this.record(turn, values);
  }
}

class BrokenStore extends Store {
  override readonly turns: Turns;

  constructor(db: Kysely<Tables>) {
    super(db);
    this.turns = new ForgetfulTurns(db);
  }

  protected override within(db: Kysely<Tables>): Store {
    return new BrokenStore(db);
  }
}

await startBroken({ store: (db) => new BrokenStore(db) });
